/** Figures of a window by task, summed from the counts by minute; the history's rows are only a sample. */
import { type Context, percentile } from '#core';

export interface TaskFigures {
  task: string;
  started: number;
  succeeded: number;
  errored: number;
  failed: number;
  durations: number[];
  waits: number[];
}

const PLACES = Array.from({ length: 18 }, (_, place) => place + 1);
const sums = (column: string) => `array[${PLACES.map((place) => `sum(${column}[${place}])`).join(', ')}]::int[]`;

export async function figuresOf(ctx: Context, minutes: number, task?: string): Promise<TaskFigures[]> {
  const { rows } = await ctx.sql<TaskFigures>(
    `select task, sum(started)::int as started, sum(succeeded)::int as succeeded, sum(errored)::int as errored,
       sum(failed)::int as failed, ${sums('durations')} as durations, ${sums('waits')} as waits
     from job_stats_minute
     where minute > now() - make_interval(mins => $1) and ($2::text is null or task = $2)
     group by task`,
    [minutes, task ?? null],
  );
  return rows;
}

/** All tasks together. */
export function together(figures: readonly TaskFigures[]): TaskFigures {
  const add = (a: number[], b: number[]) => b.map((count, place) => count + (a[place] ?? 0));
  const none: TaskFigures = { task: '', started: 0, succeeded: 0, errored: 0, failed: 0, durations: [], waits: [] };
  return figures.reduce(
    (sum, one) => ({
      task: '',
      started: sum.started + one.started,
      succeeded: sum.succeeded + one.succeeded,
      errored: sum.errored + one.errored,
      failed: sum.failed + one.failed,
      durations: add(sum.durations, one.durations),
      waits: add(sum.waits, one.waits),
    }),
    none,
  );
}

const rounded = (value: number, places: number) => Number(value.toFixed(places));

/** Attempts a minute, and the share of them that failed, including those that are retried. */
export const rates = ({ started, errored, failed }: TaskFigures, minutes: number) => ({
  throughputPerMin: rounded(started / minutes, 2),
  errorRate: started === 0 ? 0 : rounded((errored + failed) / started, 4),
});

/** Upper bounds in ms of the histogram buckets that contain the percentiles; null without an attempt. */
export const times = ({ durations, waits }: TaskFigures) => ({
  p50DurationMs: percentile(durations, 0.5),
  p95DurationMs: percentile(durations, 0.95),
  p50WaitMs: percentile(waits, 0.5),
  p95WaitMs: percentile(waits, 0.95),
});

/** By task, the ms after which a running job counts as stuck: three times the 95th percentile, at least 10 minutes. */
export async function stuckAfter(ctx: Context): Promise<Record<string, number>> {
  const { rows } = await ctx.sql<{ task: string }>(
    `select task from queue_snapshots where at = (select max(at) from queue_snapshots) and task <> ''
       and oldest_locked_at < now() - interval '10 minutes'`,
  );
  const limits: Record<string, number> = {};
  for (const { task } of rows) {
    const [figures] = await figuresOf(ctx, 1440, task);
    limits[task] = Math.max(600_000, 3 * ((figures && times(figures).p95DurationMs) ?? 0));
  }
  return limits;
}
