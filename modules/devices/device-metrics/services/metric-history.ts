/** GET /devices/{id}/metrics: samples for hours, roll-ups for weeks and years; two statements for any range. */
import { type Context, errors } from '#core';
import { type MetricQuery, RESOLUTIONS, type Resolution } from '../models/metric-history.ts';
import { FROM_ROLLED, FROM_SAMPLES, SHOWN } from './metric-columns.ts';

const DAY_MS = 86_400_000;
/** Points of one response. */
const MAX_POINTS = 2500;

// Rows stay with the organization in which they were written: the caller sees those of its organizations.
const MINE = 'device_id = $1 and ($4::uuid[] is null or org_id = any($4::uuid[]))';
const SAMPLES = (seconds: number, from: string) => `
select date_bin('${seconds} seconds', ts, 'epoch') as ts, ${FROM_SAMPLES} from device_metrics
where ${MINE} and ts >= ${from} and ts < $3 group by 1`;
// Samples supply what is not rolled up yet: at most the current hour and those since the last run.
const ROLLED_UNTIL = (table: string, step: string) => `greatest($2::timestamptz, coalesce(
  (select max(ts) + interval '${step}' from ${table} where ${MINE} and ts >= $2::timestamptz and ts < $3), $2::timestamptz))`;

const STATEMENTS: Record<Resolution, string> = {
  '5m': `select ${SHOWN} from (${SAMPLES(300, '$2')}) p order by ts`,
  '1h': rolled('device_metrics_hourly', 3600, '1 hour'),
  '1d': rolled('device_metrics_days', 86_400, '24 hours'),
};

function rolled(table: string, seconds: number, step: string): string {
  return `
with until as materialized (select ${ROLLED_UNTIL(table, step)} as ts),
parts as (
  select ts, ${FROM_ROLLED} from ${table} where ${MINE} and ts >= $2 and ts < $3 group by ts
  union all
  ${SAMPLES(seconds, '(select ts from until)')})
select ${SHOWN} from parts order by ts`;
}

/** Throws 404 for a device out of reach, 400 for a range that ends before it begins or has too many points. */
export async function readMetrics(ctx: Context, id: string, query: MetricQuery) {
  await ctx.use('devices').mustExist(id);
  const to = query.to ?? new Date();
  const from = query.from ?? new Date(to.getTime() - DAY_MS);
  const length = to.getTime() - from.getTime();
  if (length <= 0) throw badRange('"from" must lie before "to"');
  const resolution = query.resolution ?? defaultResolution(length);
  const step = RESOLUTIONS[resolution] * 1000;
  if (length / step > MAX_POINTS) throw badRange(`The range has more than ${MAX_POINTS} points of ${resolution}`);
  // Points are whole: a partial one would differ from the same point of a longer range.
  const begin = new Date(Math.floor(from.getTime() / step) * step);
  const values = [id, begin, to, ctx.scope.orgIds];
  const { rows } = await ctx.sql(STATEMENTS[resolution], values, `device-metrics-${resolution}`);
  return { data: { from: begin, to, resolution, points: rows } };
}

const badRange = (message: string): Error =>
  errors.ValidationFailed({ message, details: [{ in: 'query', path: 'from', message }] });

const defaultResolution = (length: number): Resolution =>
  length <= 2 * DAY_MS ? '5m' : length <= 31 * DAY_MS ? '1h' : '1d';
