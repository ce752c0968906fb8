/** Chooses where counters live: Redis when there is one, else this process. */
import type { Counters } from './counters.ts';
import { createMemoryCounters } from './memory-counters.ts';
import { createRedisCounters } from './redis-counters.ts';

export interface CountersOptions {
  /** `redis://` or `rediss://`; without it the counters are this process's own. */
  redisUrl?: string | undefined;
  /** Put before every key in Redis; default `qm:count:`. */
  prefix?: string | undefined;
  /** Milliseconds since the epoch; default: the system's clock, or Redis' own. */
  now?: (() => number) | undefined;
  /** In-process counts: above this many keys (default 100,000) the one unused for longest is forgotten. */
  maxKeys?: number | undefined;
}

/** Opens the counters. Close them when done. */
export function createCounters({ redisUrl, prefix = 'qm:count:', now, maxKeys = 100_000 }: CountersOptions): Counters {
  return redisUrl === undefined
    ? createMemoryCounters({ now: now ?? Date.now, maxKeys })
    : createRedisCounters({ url: redisUrl, prefix, now, maxKeys });
}
