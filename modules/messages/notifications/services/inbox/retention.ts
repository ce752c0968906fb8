/** How long notices, and what was sent of them, are kept. */
import type { Context } from '#core';

const BATCH = 20_000;
const READ_DAYS = 30;
const DELIVERY_DAYS = 90;
/** As long as events: what is gone there cannot be told again. */
const FANOUT_DAYS = 31;

/** Returns whether there may be more. Platform role. */
export async function prune(ctx: Context): Promise<boolean> {
  const removals: [string, number][] = [
    [`user_notifications where read and read_at < now() - make_interval(days => $1) order by read_at`, READ_DAYS],
    [`user_notifications where expires_at < now() - make_interval(days => $1) order by expires_at`, 0],
    [`notification_deliveries where created_at < now() - make_interval(days => $1) order by created_at`, DELIVERY_DAYS],
    [`notification_fanouts where created_at < now() - make_interval(days => $1) order by created_at`, FANOUT_DAYS],
    [`notification_rates where started_at < now() - make_interval(days => $1) order by started_at`, 1],
  ];
  let full = false;
  for (const [what, days] of removals) {
    const table = what.split(' ')[0];
    const { rowCount } = await ctx.sql(
      `delete from ${table} where ctid = any (array(select ctid from ${what} limit ${BATCH}))`,
      [days],
    );
    full ||= (rowCount ?? 0) >= BATCH;
  }
  return full;
}
