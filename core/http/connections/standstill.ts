/** Notices that the process stood still (stopped, swapped out, blocked): what it reads afterwards may have waited just as long. */

const TICK_MS = 250;
/** Milliseconds after which the process counts as having stood still. */
const STANDSTILL_MS = 1_000;

export class Standstill {
  #last = performance.now();
  #before = this.#last;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => {
      this.#before = this.#last;
      this.#last = performance.now();
    }, TICK_MS);
    this.#timer.unref();
  }

  /** The earliest time at which a request that is read now can have arrived, as `performance.now()` counts. */
  earliest(): number {
    // The tick after a standstill may come before what waited is read, so the one before it counts.
    return this.#before;
  }

  /** Whether the process has just stood still. */
  hasJustEnded(): boolean {
    return performance.now() - this.#before > STANDSTILL_MS + 2 * TICK_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
