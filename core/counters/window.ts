/** The arithmetic of a sliding window kept in five numbers, whatever the limit. */
import type { Hit } from './counters.ts';

/**
 * All that is remembered of one key; every number is in milliseconds or a count.
 *
 * The hits of the previous fixed window count in proportion to how much of it the sliding window still covers, and
 * not at all once the last hit is a full window ago. `current` never exceeds the limit, so no fixed window does.
 */
export interface WindowState {
  windowMs: number;
  start: number;
  current: number;
  previous: number;
  last: number;
}

/**
 * The state as of `now`: fixed windows that have passed are moved on. `redis-counters.ts` repeats this in Lua; change
 * both together. A clock that went back is held at the start of the window.
 */
export function moveOn(state: WindowState | undefined, now: number, windowMs: number): WindowState {
  const start = now - (now % windowMs);
  if (state === undefined || state.windowMs !== windowMs || now - state.last >= windowMs) {
    return { windowMs, start, current: 0, previous: 0, last: now };
  }
  if (start <= state.start) return state;
  // The last hit is less than a window ago, so the window that ended is the one just before this.
  return { windowMs, start, current: 0, previous: state.current, last: state.last };
}

/** Whether one more hit fits. Works in whole numbers (hits times milliseconds), so Lua and JavaScript agree. */
export function hasPlace(state: WindowState, now: number, limit: number): boolean {
  return weight(state, now) + state.windowMs <= limit * state.windowMs;
}

/** The answer for a state that was moved on to `now` (milliseconds). */
export function describe(state: WindowState, now: number, limit: number, allowed: boolean): Hit {
  const { windowMs } = state;
  const counted = weight(state, now);
  const remaining = Math.max(0, Math.floor((limit * windowMs - counted) / windowMs));
  const used = Math.ceil(counted / windowMs);
  const free = freeAt(state, now, limit);
  const reset = remaining === 0 ? free : used === 0 ? now : state.last + windowMs;
  return {
    allowed,
    limit,
    remaining,
    resetAt: Math.ceil(reset / 1000),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((free - now) / 1000)),
    used,
  };
}

/** Refuses limits and windows that mean nothing: both must be whole numbers of at least 1. */
export function checkWindow(limit: number, windowSeconds: number): void {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError('limit must be a whole number of at least 1');
  if (!Number.isSafeInteger(windowSeconds) || windowSeconds < 1) {
    throw new RangeError('windowSeconds must be a whole number of at least 1');
  }
}

function weight({ windowMs, start, current, previous }: WindowState, now: number): number {
  return current * windowMs + previous * (windowMs - Math.max(0, now - start));
}

/** The first moment (milliseconds) at which one more hit fits, if none comes in between. */
function freeAt({ windowMs, start, current, previous, last }: WindowState, now: number, limit: number): number {
  const full = current >= limit;
  // When this window is full, its hits must fade first, which they do in the next one.
  const [from, fading, mayRemain] = full
    ? [start + windowMs, current, limit - 1]
    : [start, previous, limit - current - 1];
  if (fading <= mayRemain) return now;
  const faded = from + windowMs - Math.floor((mayRemain * windowMs) / fading);
  return Math.max(now, Math.min(faded, last + windowMs));
}
