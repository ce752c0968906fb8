/** Time limits of tools: for what ignores an AbortSignal, and for transfers that may go on while they progress. */
import { ToolError } from './contract.ts';

/**
 * The outcome of the work, or TIMEOUT (or the reason of the signal) when the signal aborts: at once, or after `graceMs`, in which
 * work that heeds the signal can clear away what it began.
 */
export async function inTime<T>(work: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let grace: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    if (graceMs === 0) reject(reasonOf(signal));
    else grace = setTimeout(() => reject(reasonOf(signal)), graceMs);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, late]);
  } catch (fault) {
    // What fails because of the abort says so in its own words; the reason is the same.
    throw signal.aborted ? reasonOf(signal) : fault;
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearTimeout(grace);
    // Whatever loses the race must not become an unhandled rejection.
    work.catch(() => undefined);
    late.catch(() => undefined);
  }
}

function reasonOf(signal: AbortSignal): Error {
  const { reason } = signal;
  if (reason instanceof ToolError) return reason;
  return new ToolError('TIMEOUT', 'the device did not finish in time');
}

/** A signal that aborts after this many milliseconds without a call of `touch`; `end` stops the clock. */
export class Patience {
  readonly #controller = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something moved; the next may take `ms`. */
  touch(ms = this.#ms): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#controller.abort(new ToolError('TIMEOUT', `nothing moved for ${Math.round(ms / 1000)} seconds`));
    }, ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
