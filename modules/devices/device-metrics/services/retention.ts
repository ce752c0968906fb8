/** Deletes metrics: old ones, and those of purged devices. Platform role. */
import type { Context } from '#core';

const TABLES = ['device_metrics', 'device_metrics_hourly', 'device_metrics_days'];

/** Drops whole days of samples after 14 days and of hours after 180 days, and deletes daily values after two years. */
export async function dropOldMetrics(ctx: Context): Promise<void> {
  await ctx.sql(`select drop_daily_partitions('device_metrics', 14)`);
  await ctx.sql(`select drop_daily_partitions('device_metrics_hourly', 180)`);
  await ctx.sql(`delete from device_metrics_days where ts < now() - interval '2 years'`);
}

/** Deletes at most `maxRows` rows of a device, and returns how many. */
export async function removeMetrics(ctx: Context, deviceId: string, maxRows: number): Promise<number> {
  let removed = 0;
  for (const table of TABLES) {
    if (removed >= maxRows) break;
    const { rowCount } = await ctx.sql(
      `delete from ${table} where device_id = $1
         and (tableoid, ctid) in (select tableoid, ctid from ${table} where device_id = $1 limit $2)`,
      [deviceId, maxRows - removed],
    );
    removed += rowCount ?? 0;
  }
  return removed;
}
