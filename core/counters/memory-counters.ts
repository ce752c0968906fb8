/** Counters of a single process, in bounded memory and without timers. */
import { type Counters, CountersUnavailableError, type Hit } from './counters.ts';
import { checkWindow, describe, hasPlace, moveOn, type WindowState } from './window.ts';

/** How many keys each hit looks at to find expired ones: more than one, so the sweep outruns new keys. */
const sweepPerHit = 4;

export interface MemoryCountersOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Above this many keys the one unused for longest is forgotten. */
  maxKeys: number;
}

/** In-process counters; `size()` is the number of keys remembered. */
export function createMemoryCounters({ now, maxKeys }: MemoryCountersOptions): Counters & { size(): number } {
  const states = new Map<string, WindowState>();
  let sweeping = states.entries();
  let closed = false;

  function sweep(at: number): void {
    for (let seen = 0; seen < sweepPerHit; seen++) {
      const next = sweeping.next();
      if (next.done) {
        sweeping = states.entries();
        return;
      }
      const [key, state] = next.value;
      if (at - state.last >= state.windowMs) states.delete(key);
    }
  }

  function look(key: string, limit: number, windowSeconds: number, count: boolean): Hit {
    if (closed) throw new CountersUnavailableError();
    checkWindow(limit, windowSeconds);
    const at = now();
    const state = moveOn(states.get(key), at, windowSeconds * 1000);
    const allowed = hasPlace(state, at, limit);
    if (!count) return describe(state, at, limit, allowed);
    sweep(at);
    const after = allowed ? { ...state, current: state.current + 1, last: Math.max(at, state.last) } : state;
    states.delete(key);
    states.set(key, after);
    if (states.size > maxKeys) {
      const [oldest] = states.keys();
      if (oldest !== undefined) states.delete(oldest);
    }
    return describe(after, at, limit, allowed);
  }

  const hit: Counters['hit'] = async (key, limit, windowSeconds) => look(key, limit, windowSeconds, true);
  const peek: Counters['peek'] = async (key, limit, windowSeconds) => look(key, limit, windowSeconds, false);
  return {
    hit,
    peek,
    local: { hit, peek },
    reset: async (key) => {
      if (closed) throw new CountersUnavailableError();
      states.delete(key);
    },
    close: async () => {
      closed = true;
      states.clear();
    },
    ping: async () => {
      if (closed) throw new CountersUnavailableError();
    },
    size: () => states.size,
  };
}
