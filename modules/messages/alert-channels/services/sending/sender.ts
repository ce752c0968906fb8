/** One attempt to send a message to its channel, by the adapter of the channel's type. */
import type { Context, Outcome } from '#core';
import type { Channel } from '../../models/channel.ts';
import type { ChannelMessage, Outgoing, Severity } from '../../models/message.ts';
import { adapterOf } from '../adapters/adapters.ts';
import { opened } from '../configs.ts';

/** As it lies in the queue. */
export interface QueuedMessage {
  kind: ChannelMessage['kind'];
  severity: Severity;
  message: ChannelMessage;
  reached: string[];
  /** Whether the throttle of the channel has counted it. */
  counted: boolean;
  /** The columns of the channel, by their names in the database. */
  channel: Record<string, unknown>;
}
/** As it is sent. */
export interface Message {
  to: Channel;
  outgoing: Outgoing;
}
export interface Details {
  reached: string[];
  providerMessageId: string | null;
}

/** No transaction is open meanwhile. */
export async function send(ctx: Context, { to, outgoing }: Message): Promise<Outcome<Details>> {
  const adapter = adapterOf(ctx, to.type, to.orgId);
  if (!adapter) return { result: 'failed', error: 'this kind of channel is not there at the moment' };
  const sent = await adapter.send(ctx.services, opened(ctx, to), outgoing, { ctx, owner: to });
  const { success, permanent, answer, retryAfter, reached, providerMessageId } = sent;
  const details = { reached, providerMessageId };
  if (success) return { result: 'delivered', details };
  return { result: permanent ? 'rejected' : 'failed', error: answer, retryAfter, details };
}
