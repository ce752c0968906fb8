/** How long notices and deliveries are kept. */
import { type Context, pruneDeliveries } from '#core';
import { notificationQueue } from '../delivery/queue.ts';

/** Rows of a table that one call removes. */
const BATCH_SIZE = 20_000;
const READ_DAYS = 30;
/** As long as events: an event that is gone cannot lead to notices any more. */
const FANOUT_DAYS = 31;

/** True where there may be more. Platform role. */
export async function prune(ctx: Context): Promise<boolean> {
  const removals: [string, number][] = [
    [`user_notifications where read and read_at < now() - make_interval(days => $1) order by read_at`, READ_DAYS],
    [`user_notifications where expires_at < now() - make_interval(days => $1) order by expires_at`, 0],
    [`notification_fanouts where created_at < now() - make_interval(days => $1) order by created_at`, FANOUT_DAYS],
    [`notification_rates where started_at < now() - make_interval(days => $1) order by started_at`, 1],
  ];
  let more = await pruneDeliveries(ctx, notificationQueue);
  for (const [rows, days] of removals) {
    const table = rows.split(' ')[0];
    const { rowCount } = await ctx.sql(
      `delete from ${table} where ctid = any (array(select ctid from ${rows} limit ${BATCH_SIZE}))`,
      [days],
    );
    more ||= (rowCount ?? 0) >= BATCH_SIZE;
  }
  return more;
}
