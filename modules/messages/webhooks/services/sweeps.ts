/** What time does to deliveries: some are cancelled, old ones go, and with the last of them their webhook. */
import type { Context } from '#core';

/** Deliveries that one sweep cancels; the next follows in a minute. */
const BATCH = 5000;
/** How long a webhook that does not send keeps what waits for it. */
const KEPT_HOURS = 24;
const RETENTION_DAYS = 30;

/** Ends what will not be sent any more: its webhook is deleted, or has not been active for a day. Platform role. */
export async function cancelStale(ctx: Context): Promise<void> {
  await ctx.sql(
    `with idle as (
       select id, deleted_at from webhooks
       where (deleted_at is not null or status <> 'active') and exists (select from webhook_queue q where q.webhook_id = webhooks.id)),
     stale as (
       select q.delivery_id from idle w join webhook_queue q on q.webhook_id = w.id
         join webhook_deliveries d on d.id = q.delivery_id
       where (q.leased_until is null or q.leased_until <= now())
         and (w.deleted_at is not null or (not q.test and d.created_at < now() - make_interval(hours => $1)))
       limit ${BATCH} for update of q skip locked),
     taken as (delete from webhook_queue q using stale s where q.delivery_id = s.delivery_id)
     update webhook_deliveries d set status = 'failed', error_code = 'cancelled', next_retry_at = null,
       error_message = 'The webhook was deleted, or did not send for a day'
     from stale s where d.id = s.delivery_id and d.status in ('pending', 'retrying')`,
    [KEPT_HOURS],
  );
}

/** Returns whether there may be more. What is still under way stays. Platform role. */
export async function prune(ctx: Context): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `delete from webhook_deliveries where id in (
       select id from webhook_deliveries where created_at < now() - make_interval(days => $1)
         and status in ('delivered', 'failed') limit 20000)`,
    [RETENTION_DAYS],
  );
  await ctx.sql(`delete from webhook_counts where hour < now() - interval '2 days'`);
  await ctx.sql(`delete from webhook_hosts where coalesce(paused_until, 'epoch') < now() - interval '1 day'`);
  await ctx.sql(
    `delete from webhooks w where w.deleted_at < now() - make_interval(days => $1)
       and not exists (select from webhook_deliveries d where d.webhook_id = w.id)
       and not exists (select from webhook_counts c where c.webhook_id = w.id)`,
    [RETENTION_DAYS],
  );
  return (rowCount ?? 0) >= 20_000;
}
