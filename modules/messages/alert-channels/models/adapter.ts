/** The slot `alerts.channel`: one channel type, how it is configured and how a message is sent to it. */
import type Joi from 'joi';
import type { Context, Services } from '#core';
import type { Outcome, Outgoing } from './message.ts';

/** The owner of a channel; one of the two is null. */
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
  /** Keys that name the destination: changing one requires all other secrets again. */
  destination: readonly string[];
  /** Values that a new channel needs and the caller left out; only the answer to the creation shows them. */
  made?(config: Record<string, unknown>): Record<string, string>;
  /** What the owner should know about the type, for example that the provider will retire it. */
  warning?(config: Record<string, unknown>): string | null;
  /** Checks that a schema cannot express, within the transaction of the change. Throws 400. */
  check?(ctx: Context, config: Record<string, unknown>, owner: ChannelOwner): Promise<void>;
  /** Never rejects because of the receiver. `at.ctx` has no open transaction. */
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
