/** Counts wrong keys and tokens by where they come from, so that a guesser is stopped while a site of installers is not. */
import { errors, type Services } from '#core';

const WINDOW_SECONDS = 60;

export interface Failures {
  /** Throws RATE_LIMITED with Retry-After when the failures of this minute are used up. */
  check(): Promise<void>;
  add(): Promise<void>;
}

/** @param max failures a minute under this key. While the counter store is away nothing is counted or refused. */
export function countFailures(counters: Services['counters'], key: string, max: number): Failures {
  return {
    async check() {
      const seen = await counters.peek(`failures:${key}`, max, WINDOW_SECONDS).catch(() => null);
      if (!seen || seen.allowed) return;
      const retryAfter = Math.max(1, seen.retryAfterSeconds);
      throw errors.RateLimited({ beside: { retryAfter }, headers: { 'retry-after': String(retryAfter) } });
    },
    async add() {
      await counters.hit(`failures:${key}`, max, WINDOW_SECONDS).catch(() => null);
    },
  };
}
