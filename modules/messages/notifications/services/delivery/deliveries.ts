/** One attempt to mail or push: claimed, sent with no transaction open, and what came of it written down. */
import { randomUUID } from 'node:crypto';
import type { Context } from '#core';
import { type Claim, claim, write } from './claims.ts';
import { mailNotices } from './mails.ts';
import type { Outcome } from './outcome.ts';
import { pushNotice } from './pushes.ts';

/** Ends quietly when somebody else has it, or it has ended. */
export async function deliver(ctx: Context, deliveryId: string): Promise<void> {
  const lease = randomUUID();
  const claimed = await ctx.asPlatform((own) => claim(own, deliveryId, lease));
  if (!claimed) return;
  const outcome = await send(ctx, claimed);
  await ctx.asPlatform((own) => write(own, claimed, lease, outcome));
}

async function send(ctx: Context, claimed: Claim): Promise<Outcome> {
  try {
    return claimed.kind === 'email' ? await mailNotices(ctx, claimed) : await pushNotice(ctx, claimed);
  } catch (error) {
    // A fault of ours: what is sent otherwise must not stop for it.
    ctx.log.error({ err: error, deliveries: claimed.ids }, 'a notice could not be sent');
    return { sent: false, error: 'internal error' };
  }
}
