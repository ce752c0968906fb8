/** One attempt to send a message: claimed, sent with no transaction open, and what came of it written down. */
import { randomUUID } from 'node:crypto';
import type { Context } from '#core';
import type { Outcome } from '../../models/message.ts';
import { adapterOf } from '../adapters/adapters.ts';
import { failure } from '../adapters/requests.ts';
import { opened } from '../configs.ts';
import { type Claim, claim } from './claims.ts';
import { writeResult } from './results.ts';

/** Ends quietly when somebody else has it, or it has ended. */
export async function deliver(ctx: Context, messageId: string): Promise<void> {
  const lease = randomUUID();
  const claimed = await ctx.asPlatform((own) => claim(own, messageId, lease));
  if (!claimed) return;
  const outcome = await attempt(ctx, claimed);
  await ctx.asPlatform((own) => writeResult(own, claimed, lease, outcome));
}

async function attempt(ctx: Context, { channel, message }: Claim): Promise<Outcome> {
  const adapter = adapterOf(ctx, channel.type, channel.orgId);
  if (!adapter) return failure('this kind of channel is not there at the moment', false);
  try {
    return await adapter.send(ctx.services, opened(ctx, channel), message, { ctx, owner: channel });
  } catch (error) {
    ctx.log.error({ err: error, channelId: channel.id }, 'a message to a channel could not be sent');
    return failure('internal error', false);
  }
}
