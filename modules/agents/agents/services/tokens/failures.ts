/** Counts wrong keys and tokens by their origin, to stop guessing without blocking installations at the same address. */
import { errors, type Services } from '#core';

const WINDOW_SECONDS = 60;

export interface Failures {
  /** Throws RATE_LIMITED with Retry-After when the failures of this minute have reached the maximum. */
  check(): Promise<void>;
  add(): Promise<void>;
}

/** @param max failures per minute for this key. While the counter store is unavailable, this process counts for itself. */
export function countFailures(counters: Services['counters'], key: string, max: number): Failures {
  return {
    async check() {
      const seen = await counters
        .peek(`failures:${key}`, max, WINDOW_SECONDS)
        .catch(() => counters.local.peek(`failures:${key}`, max, WINDOW_SECONDS));
      if (seen.allowed) return;
      const retryAfter = Math.max(1, seen.retryAfterSeconds);
      throw errors.RateLimited({ beside: { retryAfter }, headers: { 'retry-after': String(retryAfter) } });
    },
    async add() {
      await counters
        .hit(`failures:${key}`, max, WINDOW_SECONDS)
        .catch(() => counters.local.hit(`failures:${key}`, max, WINDOW_SECONDS));
    },
  };
}
