/** What a counter promises: at most so many hits per key in a sliding window. */

/** The answer to a hit or a peek. */
export interface Hit {
  /** Whether the hit was counted (`hit`), or would be (`peek`). */
  allowed: boolean;
  limit: number;
  /** Hits that would still be allowed right now. */
  remaining: number;
  /** Unix seconds: places left, when nothing counts any longer; none left, when the next place becomes free. */
  resetAt: number;
  /** Seconds to wait before the next hit can be allowed; 0 when allowed, else at least 1 (`Retry-After`). */
  retryAfterSeconds: number;
  /** Hits that count at this moment, rounded up. */
  used: number;
}

/**
 * Sliding windows by key. A key belongs to one window length: used with another one it starts again from nothing.
 * Every method rejects with `CountersUnavailableError` when the shared store is away.
 */
export interface Counters {
  /** Counts one hit unless `limit` hits already lie within the last `windowSeconds`; a refused hit does not count. */
  hit(key: string, limit: number, windowSeconds: number): Promise<Hit>;
  /** The same answer without counting. */
  peek(key: string, limit: number, windowSeconds: number): Promise<Hit>;
  /** Forgets all hits of a key. */
  reset(key: string): Promise<void>;
  /** Lets go of the connection; every later call rejects. */
  close(): Promise<void>;
  /** Counts of this process alone, to go on limiting while the shared store is away. */
  readonly local: Pick<Counters, 'hit' | 'peek'>;
  /** Resolves while the store answers. */
  ping(): Promise<void>;
}

/** The store behind the counters does not answer; the caller decides whether to let the request through. */
export class CountersUnavailableError extends Error {
  readonly code = 'COUNTERS_UNAVAILABLE';

  constructor(cause?: unknown) {
    super('The counter store does not answer', { cause });
    this.name = 'CountersUnavailableError';
  }
}
