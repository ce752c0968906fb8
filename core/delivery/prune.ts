/** Removes what a delivery queue has kept for long enough. */
import type { Context } from '../context/index.ts';
import type { AnyDeliveryQueue } from '../contract/index.ts';

/** Rows of the log that one call removes. */
const BATCH_SIZE = 20_000;

/** Removes old rows of the log that have ended, and hosts that are not paused any more. True where there may be more. Platform role. */
export async function pruneDeliveries(ctx: Context, { name, log }: AnyDeliveryQueue): Promise<boolean> {
  await ctx.sql(
    `delete from delivery_hosts where queue = $1 and coalesce(paused_until, 'epoch') < now() - interval '1 day'`,
    [name],
  );
  if (!log) return false;
  const { rowCount } = await ctx.sql(
    `delete from ${log.table} where ctid = any (array(
       select ctid from ${log.table} where created_at < now() - make_interval(days => $1) and ${log.ended} limit $2))`,
    [log.retentionDays, BATCH_SIZE],
  );
  return (rowCount ?? 0) >= BATCH_SIZE;
}
