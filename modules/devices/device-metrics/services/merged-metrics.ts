/** Moves the metrics of a merged device to the device that remains. Platform role. */
import type { Context } from '#core';
import { ROLLED, SAMPLED } from './metric-columns.ts';

const SERIES = [
  { table: 'device_metrics', columns: SAMPLED },
  { table: 'device_metrics_hourly', columns: ROLLED },
  { table: 'device_metrics_days', columns: ROLLED },
];

/**
 * Moves at most `maxRows` rows of each kind; returns true when rows are left. Where both devices have a row for the same time,
 * that of the remaining device is kept.
 */
export async function takeOverMetrics(
  ctx: Context,
  { orgId, fromDeviceId, intoDeviceId }: { orgId: string; fromDeviceId: string; intoDeviceId: string },
  maxRows: number,
): Promise<boolean> {
  let more = false;
  for (const { table, columns } of SERIES) {
    // reach: merge by the platform role, of devices that were checked when it was requested
    const { rowCount } = await ctx.sql(
      `with old as (
         delete from ${table} where device_id = $1 and ts in (
           select ts from ${table} where device_id = $1 and org_id = $4 order by ts limit $3) and org_id = $4
         returning org_id, ts, ${columns}),
       kept as (
         insert into ${table} (device_id, org_id, ts, ${columns}) select $2, old.* from old on conflict do nothing)
       select from old`,
      [fromDeviceId, intoDeviceId, maxRows, orgId],
    );
    more ||= (rowCount ?? 0) >= maxRows;
  }
  return more;
}
