/** What time does to messages: some are due, and old ones go. Platform role. */
import type { Context } from '#core';

const BATCH = 500;
const KEPT_DAYS = 90;
const REMOVED = 20_000;

/** Twice is no harm: a job that finds its message taken ends. */
export async function sweepMessages(ctx: Context): Promise<void> {
  const { rows } = await ctx.sql<{ id: string; orgId: string | null }>(
    `select id, org_id as "orgId" from alert_notifications
     where status = 'pending' and next_attempt_at <= now() and (leased_until is null or leased_until <= now())
     order by next_attempt_at limit ${BATCH} for update skip locked`,
  );
  for (const { id: messageId, orgId } of rows) {
    ctx.addJob('alert-channels/deliver', { messageId }, { orgId, key: `alert-channels/deliver:${messageId}` });
  }
}

/** Returns whether there may be more. */
export async function prune(ctx: Context): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `delete from alert_notifications where ctid = any (array(
       select ctid from alert_notifications where created_at < now() - make_interval(days => $1)
       order by created_at limit ${REMOVED}))`,
    [KEPT_DAYS],
  );
  return (rowCount ?? 0) >= REMOVED;
}
