/** How much an agent may say over its socket: a bucket that fills evenly, from which each frame takes what it costs. */

/** Frames at once, and frames a second for ever. */
const MOST = 600;
const PER_SECOND = 20;
/** A beat writes; 120 a minute are as many as over HTTP. Output of a terminal comes in many small pieces. */
const COSTS = new Map([
  ['heartbeat', 10],
  ['terminal_output', 0.1],
  ['binary', 0.1],
  ['pong', 0.1],
]);

export class FrameBudget {
  #left = MOST;
  #filledAt: number;

  /** @param now milliseconds of a monotonic clock, here and below. */
  constructor(now: number) {
    this.#filledAt = now;
  }

  /** False when the agent has said more than it may. */
  spend(frame: string, now: number): boolean {
    this.#left = Math.min(MOST, this.#left + ((now - this.#filledAt) / 1000) * PER_SECOND);
    this.#filledAt = now;
    this.#left -= COSTS.get(frame) ?? 1;
    return this.#left >= 0;
  }
}
