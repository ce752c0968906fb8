/** Rolls samples up into buckets of time, and those into larger ones: the one roll-up of every module that keeps numbers over time. */
import type { Sql } from '../context/sql.ts';

/** One resolution: where it reads, and what it makes of the rows of a bucket. */
export interface RollUpStep {
  table: string;
  from: string;
  /** Length of a bucket. Buckets begin at multiples of it since 1970, in UTC. */
  seconds: number;
  /** SQL of what is aggregated, in the order of the ladder's `columns`. */
  aggregates: string;
}

/** Resolutions from the finest, each made of the one before, with the table that says how far they are. */
export interface RollUpLadder {
  /** Has one row: `only_row` and `rolled_until`, up to which samples are rolled up. */
  progress: string;
  samples: string;
  /** Columns of a roll-up's key beside the time. */
  keys: readonly string[];
  /** The column of the time, in every table. */
  time: string;
  /** Aggregated columns of every roll-up, separated by commas. */
  columns: string;
  steps: readonly [RollUpStep, ...RollUpStep[]];
  /** Days of samples that the first run looks back. */
  firstDays: number;
  /** Buckets of the first step that one run makes, so that a backlog is processed in portions. */
  maxBuckets: number;
  /** True where larger buckets are made while they are still open, and made again until they are over. */
  openBuckets: boolean;
}

const binned = (seconds: number, value: number): number => value - (value % (seconds * 1000));

/** SQL that makes the bucket `$1` of a step, of rows before `$2`; with `only`, of the values of that column in `$3`. */
function statement(ladder: RollUpLadder, { table, from, aggregates }: RollUpStep, only?: string): string {
  const { keys, time, columns } = ladder;
  const replaced = columns
    .split(',')
    .map((column) => column.trim())
    .map((column) => `${column} = excluded.${column}`);
  return `insert into ${table} (${keys.join(', ')}, ${time}, ${columns})
    select ${keys.join(', ')}, $1::timestamptz, ${aggregates} from ${from}
    where ${time} >= $1::timestamptz and ${time} < $2::timestamptz${only ? ` and ${only} = any($3)` : ''}
    group by ${keys.join(', ')}
    on conflict (${keys[0]}, ${[time, ...keys.slice(1)].join(', ')}) do update set ${replaced.join(', ')}`;
}

interface Progress {
  until: number;
  now: number;
}
/** How far the roll-ups are, and the start of the bucket that is open now. The row is locked, so that two runs do not do the same work. */
async function lockProgress(sql: Sql, { progress, samples, time, steps, firstDays }: RollUpLadder): Promise<Progress> {
  const { rows } = await sql<{ until: Date; now: Date }>(
    `with first as (
       insert into ${progress} (rolled_until)
       select date_bin('${steps[0].seconds} seconds', greatest(coalesce(min(${time}), now()), now() - interval '${firstDays} days'), 'epoch')
       from ${samples} where not exists (select from ${progress}) on conflict do nothing returning rolled_until)
     select coalesce((select rolled_until from first), (select rolled_until from ${progress} for update)) as until,
       date_bin('${steps[0].seconds} seconds', now(), 'epoch') as now`,
  );
  const [row] = rows;
  // Another run has just written the first row and this statement does not see it yet: nothing is left for this run.
  if (!row?.until) return { until: Number.NaN, now: Number.NaN };
  return { until: row.until.getTime(), now: row.now.getTime() };
}

/**
 * Continues where the last run ended, up to the bucket that is open now. The last bucket of the previous run is made again, because
 * samples can arrive late. Runs in the caller's transaction in the platform role: a run that dies leaves nothing, and one that is
 * repeated changes nothing. Returns true when buckets are left.
 */
export async function rollUp(sql: Sql, ladder: RollUpLadder): Promise<boolean> {
  const [first, ...larger] = ladder.steps;
  const { until, now } = await lockProgress(sql, ladder);
  if (Number.isNaN(until)) return false;
  const step = first.seconds * 1000;
  const begin = until - step;
  const end = Math.min(now, begin + ladder.maxBuckets * step);
  const made: number[] = [];
  for (let at = begin; at < end; at += step) {
    await sql(statement(ladder, first), [new Date(at), new Date(at + step)], first.table);
    made.push(at);
  }
  for (const one of larger) await rollBuckets(sql, ladder, one, made, end);
  await sql(`update ${ladder.progress} set rolled_until = $1 where rolled_until < $1`, [new Date(end)]);
  return end < now;
}

/** Makes the buckets of a larger step in which these times lie. */
async function rollBuckets(sql: Sql, ladder: RollUpLadder, step: RollUpStep, times: number[], end: number) {
  const length = step.seconds * 1000;
  for (const at of new Set(times.map((time) => binned(step.seconds, time)))) {
    if (!ladder.openBuckets && at + length > end) continue;
    await sql(statement(ladder, step), [new Date(at), new Date(at + length)], step.table);
  }
}

/**
 * Makes again the buckets of all steps in an hour or other span of time `[at, at + seconds)`, for these values of the ladder's first
 * key: samples have come for it after it was rolled up. Runs in the transaction in which `until` was read under the lock.
 */
export async function rollUpAgain(
  sql: Sql,
  ladder: RollUpLadder,
  { at, seconds, of, until }: { at: number; seconds: number; of: readonly string[]; until: number },
): Promise<void> {
  for (const step of ladder.steps) {
    const length = step.seconds * 1000;
    for (let bucket = binned(step.seconds, at); bucket < at + seconds * 1000; bucket += length) {
      if (bucket + length > until) continue;
      await sql(
        statement(ladder, step, ladder.keys[0]),
        [new Date(bucket), new Date(bucket + length), of],
        `${step.table}-again`,
      );
    }
  }
}
