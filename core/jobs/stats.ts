/** Exact counts of attempts by task and minute, as one node sees them; the rows of job_stats_minute. */

/** Upper bounds in ms of the columns `durations` and `waits`; what is longer counts in one more place. */
export const BOUNDS_MS = [
  1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 900_000,
] as const;

export interface MinuteCounts {
  minute: string;
  task: string;
  started: number;
  succeeded: number;
  errored: number;
  failed: number;
  durationSum: number;
  durationMax: number;
  waitSum: number;
  waitMax: number;
  durations: number[];
  waits: number[];
}

const place = (ms: number): number => {
  const found = BOUNDS_MS.findIndex((bound) => ms <= bound);
  return found < 0 ? BOUNDS_MS.length : found;
};
const none = (): number[] => new Array<number>(BOUNDS_MS.length + 1).fill(0);

/** The time in ms that this share of the counts lies at or under; null without any. What is beyond all bounds counts as the last. */
export function percentile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [index, count] of counts.entries()) {
    seen += count;
    if (seen >= total * share) return BOUNDS_MS[index] ?? BOUNDS_MS[BOUNDS_MS.length - 1] ?? null;
  }
  return null;
}

/** Rows that wait to be written at most. */
const MAX_CHANGED = 10_000;

export class MinuteStats {
  private current = new Map<string, MinuteCounts>();
  private readonly changed = new Set<MinuteCounts>();

  /** Returns how many attempts of the task have ended in this minute, this one included. */
  add(
    task: string,
    outcome: 'success' | 'error' | 'failed' | 'skipped',
    at: Date,
    { durationMs, waitMs }: { durationMs: number; waitMs: number },
  ): number {
    const minute = new Date(Math.floor(at.getTime() / 60_000) * 60_000).toISOString();
    let counts = this.current.get(task);
    if (counts?.minute !== minute) {
      counts = { minute, task, started: 0, succeeded: 0, errored: 0, failed: 0, ...zero() };
      this.current.set(task, counts);
    }
    counts.started += 1;
    // A job of a module that is off has done all there was to do.
    if (outcome === 'success' || outcome === 'skipped') counts.succeeded += 1;
    else if (outcome === 'error') counts.errored += 1;
    else counts.failed += 1;
    counts.durationSum += durationMs;
    counts.durationMax = Math.max(counts.durationMax, durationMs);
    counts.waitSum += waitMs;
    counts.waitMax = Math.max(counts.waitMax, waitMs);
    counts.durations[place(durationMs)] = (counts.durations[place(durationMs)] ?? 0) + 1;
    counts.waits[place(waitMs)] = (counts.waits[place(waitMs)] ?? 0) + 1;
    this.changed.add(counts);
    return counts.started;
  }

  /** What was taken and could not be written is taken again; of what is more than the limit, the newest. */
  giveBack(rows: readonly MinuteCounts[]): void {
    const kept = new Set([...rows, ...this.changed].slice(-MAX_CHANGED));
    this.changed.clear();
    for (const row of kept) this.changed.add(row);
  }

  /** What changed since the last call, as totals of its minute so far: writing it twice does no harm. */
  take(): MinuteCounts[] {
    const rows = [...this.changed];
    this.changed.clear();
    return rows;
  }
}

const zero = () => ({ durationSum: 0, durationMax: 0, waitSum: 0, waitMax: 0, durations: none(), waits: none() });
