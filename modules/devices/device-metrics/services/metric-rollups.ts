/** Rolls samples up into hours, and hours into days; each roll-up can be repeated. Platform role. */
import type { Context } from '#core';
import { FROM_ROLLED, FROM_SAMPLES, REPLACED, ROLLED } from './metric-columns.ts';

const HOUR_MS = 3_600_000;
/** Hours of one run, so that a backlog is processed in portions. */
const MAX_HOURS = 48;

const HOUR = `
insert into device_metrics_hourly (device_id, ts, org_id, ${ROLLED})
select device_id, $1::timestamptz, org_id, ${FROM_SAMPLES} from device_metrics
where ts >= $1::timestamptz and ts < $1::timestamptz + interval '1 hour' group by device_id, org_id
on conflict (device_id, ts, org_id) do update set ${REPLACED}`;

const DAY = `
insert into device_metrics_days (device_id, ts, org_id, ${ROLLED})
select device_id, $1::timestamptz, org_id, ${FROM_ROLLED} from device_metrics_hourly
where ts >= $1::timestamptz and ts < $1::timestamptz + interval '24 hours' group by device_id, org_id
on conflict (device_id, ts, org_id) do update set ${REPLACED}`;

/**
 * Continues where the last run ended, up to the current hour. The last hour of the previous run is repeated, because samples can
 * arrive late. Then rolls up the days of those hours. Returns true when hours are left.
 */
export async function rollUp(ctx: Context): Promise<boolean> {
  // The row is also the lock that keeps two runs from doing the same work.
  const { rows } = await ctx.sql<{ from: Date | null; now: Date }>(
    `with first as (
       insert into device_metrics_progress (rolled_until)
       select date_trunc('hour', greatest(coalesce(min(ts), now()), now() - interval '14 days'), 'UTC') from device_metrics
       where not exists (select from device_metrics_progress) on conflict do nothing returning rolled_until)
     select coalesce((select rolled_until from first), (select rolled_until from device_metrics_progress for update)) as from,
       date_trunc('hour', now(), 'UTC') as now`,
  );
  const until = rows[0]?.from;
  const now = rows[0]?.now;
  if (!until || !now) return false;
  const days = new Set<number>();
  const begin = until.getTime() - HOUR_MS;
  const end = Math.min(now.getTime(), begin + MAX_HOURS * HOUR_MS);
  for (let hour = begin; hour < end; hour += HOUR_MS) {
    await ctx.sql(HOUR, [new Date(hour)], 'device-metrics-hour');
    days.add(hour - (hour % (24 * HOUR_MS)));
  }
  for (const day of days) await ctx.sql(DAY, [new Date(day)], 'device-metrics-day');
  await ctx.sql('update device_metrics_progress set rolled_until = $1 where rolled_until < $1', [new Date(end)]);
  return end < now.getTime();
}
