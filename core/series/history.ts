/** Reads series over time: aligned points of the finest resolution that fits, in one statement. */
import type { Context } from '../context/index.ts';
import { ValidationFailed } from '../errors.ts';
import { DAY, HOUR, KEPT_DAYS, MINUTES } from './ladder.ts';

export interface SeriesKey {
  kind: string;
  id: string;
  key: string;
}
export interface SeriesBucket {
  at: Date;
  samples: number;
  avg: number;
  min: number;
  max: number;
}
export interface SeriesHistory {
  /** The range, widened to whole points. */
  from: Date;
  to: Date;
  stepSeconds: number;
  /** In the order of the keys. Point `n` lies at `from + n * stepSeconds`; null where nothing was measured. */
  series: { key: SeriesKey; unit: string | null; points: (SeriesBucket | null)[] }[];
}

/** Seconds of a point. */
const STEPS = [10, 30, 60, 120, MINUTES, 600, 900, 1800, HOUR, 7200, 10_800, 21_600, 43_200, DAY, 2 * DAY, 7 * DAY];
const MAX_KEYS = 100;
const MAX_POINTS = 2000;

/** The finest resolution that is still kept of this age, in seconds. */
function keptOf(ageDays: number): number {
  if (ageDays < KEPT_DAYS.points) return 1;
  if (ageDays < KEPT_DAYS.minutes) return MINUTES;
  return ageDays < KEPT_DAYS.hours ? HOUR : DAY;
}

const fault = (path: string, message: string): Error =>
  ValidationFailed({ message, details: [{ in: 'query', path, message }] });

/** The smallest step of which at most `points` cover the range. */
function chooseStep(from: Date, to: Date, points: number): { step: number; begin: number; count: number } {
  const kept = keptOf((Date.now() - from.getTime()) / (DAY * 1000));
  for (const step of STEPS.filter((seconds) => seconds >= kept)) {
    const length = step * 1000;
    const begin = Math.floor(from.getTime() / length) * length;
    const count = Math.ceil((to.getTime() - begin) / length);
    if (count <= points) return { step, begin, count };
  }
  throw fault('points', 'The range needs more points than asked for');
}

/** Tables from the coarsest, each with the length of its buckets; each supplies what the one before does not have yet. */
const LEVELS = [
  { seconds: DAY, table: 'series_days' },
  { seconds: HOUR, table: 'series_hours' },
  { seconds: MINUTES, table: 'series_5m' },
];

/** SQL of the parts of a range: whole buckets of roll-ups up to where they reach, and points after that. */
function partsOf(step: number): string {
  const levels = LEVELS.filter(({ seconds }) => step % seconds === 0);
  let begin = '$5::timestamptz';
  const parts: string[] = [];
  for (const { seconds, table } of levels) {
    const until = `date_bin('${seconds} seconds', (select at from rolled), 'epoch')`;
    parts.push(
      `select w.ordinal, r.at, r.samples, r.total, r.low, r.high from wanted w join ${table} r on r.series_id = w.id
       where r.at >= ${begin} and r.at < least(${until}, $6::timestamptz)`,
    );
    begin = `greatest($5::timestamptz, ${until})`;
  }
  parts.push(
    `select w.ordinal, r.at, 1, r.value, r.value, r.value from wanted w join series_points r on r.series_id = w.id
     where r.at >= ${begin} and r.at < $6::timestamptz`,
  );
  return parts.join('\nunion all\n');
}

const statementOf = (step: number): string => `
with rolled as materialized (select series_rolled_until() as at),
wanted as materialized (
  select k.ordinal, s.id, s.unit from unnest($1::text[], $2::uuid[], $3::text[]) with ordinality k (kind, source, key, ordinal)
  join series s on s.source_kind = k.kind and s.source_id = k.source and s.key = k.key
  where $4::uuid[] is null or s.org_id = any($4::uuid[])),
buckets as (
  select ordinal, date_bin('${step} seconds', at, 'epoch') as at, sum(samples)::double precision as samples,
    sum(total) as total, min(low) as low, max(high) as high
  from (${partsOf(step)}) p group by 1, 2)
select ordinal::integer as ordinal, (select min(unit) from wanted w where w.ordinal = b.ordinal) as unit,
  array_to_json(array_agg(((extract(epoch from at - $5::timestamptz)) / ${step})::integer)) as places,
  array_to_json(array_agg(samples)) as samples, array_to_json(array_agg(total / samples)) as avg,
  array_to_json(array_agg(low)) as min, array_to_json(array_agg(high)) as max
from buckets b group by ordinal`;

interface HistoryRow {
  ordinal: number;
  unit: string | null;
  places: number[];
  samples: number[];
  avg: number[];
  min: number[];
  max: number[];
}

/**
 * The history of 1 to 100 series in `[from, to)` as at most `points` (1 to 2,000) points each, aligned to UTC. Of several organizations
 * a caller sees those in its scope; sources that lie in sites or groups it has checked itself. Throws 400 for a range that ends
 * before it begins or does not fit the number of points.
 */
export async function readSeries(
  ctx: Context,
  keys: readonly SeriesKey[],
  { from, to, points }: { from: Date; to: Date; points: number },
): Promise<SeriesHistory> {
  if (keys.length === 0 || keys.length > MAX_KEYS) throw fault('keys', `Name 1 to ${MAX_KEYS} series`);
  if (!(from < to)) throw fault('from', '"from" must lie before "to"');
  if (!(points >= 1 && points <= MAX_POINTS)) throw fault('points', `"points" must be 1 to ${MAX_POINTS}`);
  const { step, begin, count } = chooseStep(from, to, points);
  const end = new Date(begin + count * step * 1000);
  const { rows } = await ctx.sql<HistoryRow>(
    statementOf(step),
    [
      keys.map(({ kind }) => kind),
      keys.map(({ id }) => id),
      keys.map(({ key }) => key),
      ctx.scope.orgIds,
      new Date(begin),
      end,
    ],
    `series-${step}`,
  );
  const byOrdinal = new Map(rows.map((row) => [row.ordinal, row]));
  const series = keys.map((key, index) => {
    const row = byOrdinal.get(index + 1);
    return { key, unit: row?.unit ?? null, points: pointsOf(row, begin, step, count) };
  });
  return { from: new Date(begin), to: end, stepSeconds: step, series };
}

function pointsOf(row: HistoryRow | undefined, begin: number, step: number, count: number): (SeriesBucket | null)[] {
  const points: (SeriesBucket | null)[] = new Array(count).fill(null);
  for (const [index, place] of (row?.places ?? []).entries()) {
    points[place] = {
      at: new Date(begin + place * step * 1000),
      samples: row?.samples[index] ?? 0,
      avg: row?.avg[index] ?? 0,
      min: row?.min[index] ?? 0,
      max: row?.max[index] ?? 0,
    };
  }
  return points;
}
