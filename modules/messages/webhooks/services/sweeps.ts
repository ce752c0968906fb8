/** Scheduled work on deliveries and webhooks: waiting deliveries are cancelled, old rows are removed. */
import { type Context, pruneDeliveries } from '#core';
import { RETENTION_DAYS, webhookQueue } from './sending/queue.ts';

/** Deliveries that one call cancels; the job runs again a minute later. */
const BATCH_SIZE = 5000;
/** Hours that deliveries wait for a webhook that is paused or disabled. */
const MAX_WAIT_HOURS = 24;

/** Cancels deliveries whose webhook is deleted, or has been inactive for a day. Platform role. */
export async function cancelStale(ctx: Context): Promise<void> {
  // reach: sweep by the platform role, for all organizations
  await ctx.sql(
    `with idle as (
       select id, deleted_at from webhooks
       where (deleted_at is not null or status <> 'active') and exists (select from webhook_queue q where q.webhook_id = webhooks.id)),
     stale as (
       select q.id from idle w join webhook_queue q on q.webhook_id = w.id join webhook_deliveries d on d.id = q.id
       where (q.leased_until is null or q.leased_until <= now())
         and (w.deleted_at is not null or (not q.test and d.created_at < now() - make_interval(hours => $1)))
       limit $2 for update of q skip locked),
     taken as (delete from webhook_queue q using stale s where q.id = s.id)
     update webhook_deliveries d set status = 'failed', error_code = 'cancelled', next_retry_at = null,
       error_message = 'The webhook was deleted, or did not send for a day'
     from stale s where d.id = s.id and d.status in ('pending', 'retrying')`,
    [MAX_WAIT_HOURS, BATCH_SIZE],
  );
}

/** Removes old deliveries, and deleted webhooks with their last delivery. True where there may be more. Platform role. */
export async function prune(ctx: Context): Promise<boolean> {
  const more = await pruneDeliveries(ctx, webhookQueue);
  await ctx.sql(`delete from webhook_counts where hour < now() - interval '2 days'`);
  // reach: sweep by the platform role, for all organizations
  await ctx.sql(
    `delete from webhooks w where w.deleted_at < now() - make_interval(days => $1)
       and not exists (select from webhook_deliveries d where d.webhook_id = w.id)
       and not exists (select from webhook_counts c where c.webhook_id = w.id)`,
    [RETENTION_DAYS],
  );
  return more;
}
