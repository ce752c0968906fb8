/** Asks for deliveries that are due. */
import type { Context } from '#core';

const BATCH = 500;

/** Twice is no harm: a job that finds its delivery taken ends. Platform role. */
export async function sweepDeliveries(ctx: Context): Promise<void> {
  // Of a digest one stands for all.
  // reach: sweep by the platform role, for all organizations
  const { rows } = await ctx.sql<{ id: string; orgId: string | null }>(
    `with due as (
       select id, user_id, due_at, digest, notification_id from notification_deliveries
       where status = 'pending' and next_attempt_at <= now() and (leased_until is null or leased_until <= now())
       order by next_attempt_at limit ${BATCH} for update skip locked)
     select distinct on (case when due.digest then due.user_id::text || due.due_at else due.id::text end) due.id, n.org_id as "orgId"
     from due left join user_notifications n on n.id = due.notification_id`,
  );
  for (const { id: deliveryId, orgId } of rows) {
    ctx.addJob('notifications/deliver', { deliveryId }, { orgId, key: `notifications/deliver:${deliveryId}` });
  }
  if (rows.length > 0) ctx.log.debug({ due: rows.length }, 'notices are due to be sent');
}
