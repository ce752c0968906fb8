/** The waits of the agent in one place, so that tests can shorten them, and the back-off built on them. */
import { setTimeout as wait } from 'node:timers/promises';

/** All values in milliseconds. */
export interface Timing {
  backoffFirst: number;
  backoffMax: number;
  /** Pause after the server refused the token. */
  refused: number;
  /** Pause between polls while commands run. */
  poll: number;
  inventory: number;
  /** Between two looks at who is logged in. */
  people: number;
  /** Between two samples of open connections and running processes. */
  samples: number;
  /** Between two readings of the files that hold custom fields. */
  fields: number;
  /** Before a value that the server did not take is sent again. */
  fieldRetry: number;
  /** Between two sendings of the agent's own lines. */
  lines: number;
  /** Between two readings of the operating system's events. */
  events: number;
  /** From SIGTERM to SIGKILL. */
  killGrace: number;
  /** How long a stop may wait for its last attempt to deliver results. */
  farewell: number;
  /** How long an agent that removes itself keeps trying to say so. */
  lastWords: number;
  request: number;
  /** How long a socket must hold before the next loss counts as a first one. */
  stable: number;
  /** How long a new program may take to say its version. */
  trial: number;
  /** Before a version whose update failed here is tried again, whatever the server offers. */
  retry: number;
  /** Between two signs of life that the agent leaves for its watchdog. */
  pulse: number;
  /** Between two looks of the watchdog. */
  watch: number;
  /** Without a sign of life for so long, a running agent hangs. */
  hang: number;
  /** What the watchdog leaves to the service manager before it starts a dead agent itself. */
  patience: number;
  /** A new version is rolled back when its heartbeats go unanswered for this long while the watchdog's are answered. */
  unheard: number;
}

/** The waits that the protocol asks for (modules/agents/agents/README.md). */
export const DEFAULT_TIMING: Timing = {
  backoffFirst: 1_000,
  backoffMax: 60_000,
  refused: 3_600_000,
  poll: 2_000,
  inventory: 6 * 3_600_000,
  people: 300_000,
  samples: 900_000,
  fields: 60_000,
  fieldRetry: 3_600_000,
  lines: 60_000,
  events: 60_000,
  killGrace: 5_000,
  farewell: 10_000,
  lastWords: 60_000,
  request: 30_000,
  stable: 30_000,
  trial: 60_000,
  retry: 300_000,
  pulse: 15_000,
  watch: 5_000,
  hang: 180_000,
  patience: 60_000,
  unheard: 600_000,
};

/** A function that returns doubling waits in milliseconds with ±30 % jitter, and starts over after `reset()`. */
export class Backoff {
  #next: number;
  readonly #first: number;
  readonly #max: number;

  constructor(timing: Pick<Timing, 'backoffFirst' | 'backoffMax'>) {
    this.#first = timing.backoffFirst;
    this.#max = timing.backoffMax;
    this.#next = timing.backoffFirst;
  }

  /** The next wait in milliseconds; `atLeast` is what the server asked for (Retry-After). */
  next(atLeast = 0): number {
    const base = this.#next;
    this.#next = Math.min(base * 2, this.#max);
    return Math.max(atLeast, Math.round(base * (0.7 + Math.random() * 0.6)));
  }

  reset(): void {
    this.#next = this.#first;
  }
}

/** Waits, but no longer than until the signal aborts; never throws. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
