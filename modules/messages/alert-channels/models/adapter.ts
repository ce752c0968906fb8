/** The slot `alerts.channel`: one kind of channel, how it is configured and how a message is sent to it. */
import type Joi from 'joi';
import type { Context, Services } from '#core';
import type { Outcome, Outgoing } from './message.ts';

/** Whose channel it is; one of the two is null. */
export interface ChannelOwner {
  orgId: string | null;
  partnerId: string | null;
}

export type ChannelServices = Pick<Services, 'http' | 'mail' | 'sms' | 'config'>;
export interface ChannelAdapter {
  type: string;
  title: string;
  /** Of a complete configuration. */
  config: Joi.ObjectSchema;
  /** Keys that are sealed, and masked in answers. */
  secrets: readonly string[];
  /** Keys that say where messages go: another value wants all secrets again that are no destination themselves. */
  destination: readonly string[];
  /** Values that a new channel needs and the caller left out; only the answer to the creation shows them. */
  made?(config: Record<string, unknown>): Record<string, string>;
  /** What its owner should know, such as that the other side will end it. */
  warning?(config: Record<string, unknown>): string | null;
  /** What a schema cannot say, within the transaction of the change. Throws 400. */
  check?(ctx: Context, config: Record<string, unknown>, owner: ChannelOwner): Promise<void>;
  /** Never rejects for what the other side does. `at.ctx` has no transaction open. */
  send(
    services: ChannelServices,
    // biome-ignore lint/suspicious/noExplicitAny: each adapter knows its own configuration
    config: any,
    message: Outgoing,
    at: { ctx: Context; owner: ChannelOwner },
  ): Promise<Outcome>;
}
/** The slot `alert-channels.usage`: how many objects of each kind refer to a channel. A channel in use is not deleted. */
export interface ChannelUsage {
  of(ctx: Context, channelId: string): Promise<Record<string, number>>;
}
