/** Counters shared by all processes through Redis, one script call per hit. */
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Redis, type Result } from 'ioredis';
import { type Counters, CountersUnavailableError, type Hit } from './counters.ts';
import { createMemoryCounters } from './memory-counters.ts';
import { checkWindow, describe } from './window.ts';

/** For a connection, and for an answer: together below one second, the longest a caller waits for a Redis that is away. */
const waitMs = 450;
/** A process that was late itself by so many milliseconds waits anew, so often: what it did not read was no silence. */
const ownDelayMs = 100;
const mostWaits = 4;

/**
 * `moveOn` and `hasPlace` of window.ts in Lua; change both together. Without a clock argument Redis' own time counts,
 * so that processes with different clocks agree. Nothing is written for a refused hit or a peek; a key expires a
 * window after its last hit, when it can no longer count.
 */
const script = `
local window, limit, now, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local kept = redis.call('HMGET', KEYS[1], 'w', 's', 'c', 'p', 'l')
local start, current, previous, last = now - now % window, 0, 0, now
if kept[1] and tonumber(kept[1]) == window and now - tonumber(kept[5]) < window then
  last = tonumber(kept[5])
  if start <= tonumber(kept[2]) then
    start, current, previous = tonumber(kept[2]), tonumber(kept[3]), tonumber(kept[4])
  else
    previous = tonumber(kept[3])
  end
end
local weight = current * window + previous * (window - math.max(0, now - start))
local allowed = weight + window <= limit * window
if allowed and count then
  current, last = current + 1, math.max(now, last)
  redis.call('HSET', KEYS[1], 'w', window, 's', start, 'c', current, 'p', previous, 'l', last)
  redis.call('PEXPIRE', KEYS[1], window)
end
return { allowed and 1 or 0, start, current, previous, last, now }
`;

type Answer = [allowed: number, start: number, current: number, previous: number, last: number, now: number];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    qmSlidingWindow(
      key: string,
      windowMs: number,
      limit: number,
      now: number | '',
      count: 0 | 1,
    ): Result<Answer, Context>;
  }
}

export interface RedisCountersOptions {
  url: string;
  /** Put before every key. */
  prefix: string;
  /** Milliseconds since the epoch; without it Redis' own clock. */
  now?: (() => number) | undefined;
  /** Of the counts of this process alone: above this many the one unused for longest is forgotten. */
  maxKeys: number;
}

/** Counters in Redis. Reconnects by itself for as long as it is not closed; meanwhile every call rejects at once. */
export function createRedisCounters({ url, prefix, now, maxKeys }: RedisCountersOptions): Counters {
  const redis = new Redis(url, {
    connectTimeout: 2000,
    enableOfflineQueue: false,
    // A hit that was under way when the connection broke may have counted: it is not sent a second time.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    scripts: { qmSlidingWindow: { lua: script, numberOfKeys: 1 } },
  });
  // Failures reach the callers; without a listener ioredis would print them too.
  redis.on('error', () => undefined);
  const { ask, close } = boundedCommands(redis);

  async function look(key: string, limit: number, windowSeconds: number, count: 0 | 1): Promise<Hit> {
    checkWindow(limit, windowSeconds);
    const windowMs = windowSeconds * 1000;
    const answer = await ask(() => redis.qmSlidingWindow(prefix + key, windowMs, limit, now?.() ?? '', count));
    const [allowed, start, current, previous, last, at] = answer;
    return describe({ windowMs, start, current, previous, last }, at, limit, allowed === 1);
  }

  return {
    hit: (key, limit, windowSeconds) => look(key, limit, windowSeconds, 1),
    peek: (key, limit, windowSeconds) => look(key, limit, windowSeconds, 0),
    reset: async (key) => {
      await ask(() => redis.del(prefix + key));
    },
    close,
    local: createMemoryCounters({ now: now ?? Date.now, maxKeys }),
    ping: async () => {
      await ask(() => redis.ping());
    },
  };
}

interface BoundedCommands {
  /** Rejects with CountersUnavailableError for every failure, and when Redis does not answer in time. */
  ask<T>(command: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Commands that never wait long: for a connection that is being made, or for an answer. */
function boundedCommands(redis: Redis): BoundedCommands {
  let closed = false;
  let connecting: Promise<void> | undefined;

  async function ask<T>(command: () => Promise<T>): Promise<T> {
    try {
      if (!closed && (redis.status === 'connecting' || redis.status === 'connect')) {
        // All calls that arrive while it is being made wait for the same moment.
        connecting ??= connected(redis).finally(() => {
          connecting = undefined;
        });
        await connecting;
      }
      return await answered(command());
    } catch (error) {
      throw new CountersUnavailableError(error);
    }
  }

  async function answered<T>(answer: Promise<T>): Promise<T> {
    const over = new AbortController();
    const silence = silent(over.signal).then(() => {
      // A socket that stopped answering is given up, so that later calls fail at once instead of one time-out each.
      if (!closed) redis.disconnect(true);
      throw new Error(`No answer within ${waitMs} ms`);
    });
    try {
      return await Promise.race([answer, silence]);
    } finally {
      over.abort();
      silence.catch(() => undefined);
      answer.catch(() => undefined);
    }
  }

  const close = async () => {
    closed = true;
    await redis.quit().catch(() => undefined);
    redis.disconnect();
  };
  return { ask, close };
}

/** Resolves once nothing has come for as long as anybody waits; rejects when `signal` says that it has. */
async function silent(signal: AbortSignal): Promise<void> {
  for (let waits = 0, late = ownDelayMs; late >= ownDelayMs && waits < mostWaits; waits += 1) {
    const due = performance.now() + waitMs;
    await pause(waitMs, undefined, { signal });
    late = performance.now() - due;
    // What has come meanwhile is read after the timers.
    await nextTurn(undefined, { signal });
  }
}

/** Waits a moment for a connection that is being made. */
async function connected(redis: Redis): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const waits = [once(redis, 'ready', { signal }), once(redis, 'close', { signal }), silent(signal)];
  await Promise.race(waits).catch(() => undefined);
  over.abort();
  await Promise.allSettled(waits);
}
