/** How long the history of devices is kept. Platform role. */
import type { Context } from '#core';

const MOST = 10_000;
/** Days, and the column that says how old a row is. */
const KEPT = [
  {
    table: 'device_commands',
    key: 'id',
    age: 'created_at',
    days: 90,
    also: `and status not in ('pending', 'sent', 'running')`,
  },
  { table: 'device_changes', key: 'id', age: 'at', days: 90, also: '' },
  { table: 'device_ip_history', key: 'id', age: 'last_seen_at', days: 90, also: '' },
];

/** Some at a time; what is left goes the next day. */
export async function pruneHistory(ctx: Context): Promise<void> {
  for (const { table, key, age, days, also } of KEPT) {
    await ctx.sql(
      `delete from ${table} where ${key} in (select ${key} from ${table}
         where ${age} < now() - make_interval(days => ${days}) ${also} order by ${age} limit ${MOST})`,
    );
  }
}

/**
 * Days of samples are dropped whole after a fortnight, of hours after 180 days; core makes the coming ones. Daily values
 * stay for two years.
 */
export async function dropOldMetrics(ctx: Context): Promise<void> {
  await ctx.sql(`select drop_daily_partitions('device_metrics', 14)`);
  await ctx.sql(`select drop_daily_partitions('device_metrics_hourly', 180)`);
  await ctx.sql(`delete from device_metrics_days where ts < now() - interval '2 years'`);
}
