/** Deliveries that wait for a later attempt and are made due now: by a person, or because their receiver answers again. */
import { announceDue, type Context, reopenHost } from '#core';
import type { Webhook } from '../models/webhook.ts';

/**
 * Hours between two early attempts that the receiver's successes cause for one delivery. A message that always fails, between
 * others that succeed, keeps most of its attempts for later.
 */
const MIN_HOURS = 1;

// $1 webhook. Deliveries of an inactive webhook have due_at infinity; leased ones are being sent.
// reach: callers lock the webhook by mustLock, which refuses people limited to sites or groups, or are the platform role
const HURRY = (which: string) => `
with hurried as (
  update webhook_queue q set due_at = now(), hurried_at = now()
  from webhook_deliveries d
  where d.id = q.id and q.webhook_id = $1 and not q.test and q.due_at < 'infinity'
    and (q.lease is null or q.leased_until <= now()) and ${which}
  returning q.id),
shown as (
  update webhook_deliveries d set next_retry_at = now() from hurried h where d.id = h.id and d.status = 'retrying')
select count(*)::int as n from hurried`;

async function hurry(ctx: Context, which: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await ctx.sql<{ n: number }>(HURRY(which), [...values]);
  const n = rows[0]?.n ?? 0;
  if (n > 0) announceDue(ctx, 'webhooks');
  return n;
}

/** Also while the circuit breaker pauses the host. False where it is being sent at this moment. */
export async function hurryDelivery(ctx: Context, { id, host }: Webhook, deliveryId: string): Promise<boolean> {
  if ((await hurry(ctx, 'q.id = $2', [id, deliveryId])) === 0) return false;
  await ctx.asPlatform((own) => reopenHost(own, 'webhooks', host));
  return true;
}

/** What waits of a period, also while the circuit breaker pauses the host. Returns the number of deliveries. */
export async function hurryPeriod(ctx: Context, { id, host }: Webhook, from: Date, to: Date): Promise<number> {
  const count = await hurry(ctx, 'd.created_at >= $2 and d.created_at < $3 and q.due_at > now()', [id, from, to]);
  await ctx.asPlatform((own) => reopenHost(own, 'webhooks', host));
  return count;
}

/** After the first success since a failure: what failed before goes at once, too. Platform role. */
export async function releaseAfterSuccess(ctx: Context, webhookId: string): Promise<void> {
  const which = `d.status = 'retrying' and coalesce(q.hurried_at, '-infinity') < now() - interval '${MIN_HOURS} hours'`;
  await hurry(ctx, which, [webhookId]);
}
