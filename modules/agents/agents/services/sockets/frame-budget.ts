/** Limits the frames of an agent with a token bucket, from which each frame takes its cost. */

/** The size of the bucket, and the rate at which it refills. */
const MAX_FRAMES = 600;
const FRAMES_PER_SECOND = 20;
/** Frames that do not cost 1. A heartbeat writes: 120 a minute, as over HTTP. Terminal output comes in many small frames. */
const COSTS = new Map([
  ['heartbeat', 10],
  ['terminal_output', 0.1],
  ['binary', 0.1],
  ['pong', 0.1],
]);

export class FrameBudget {
  #left = MAX_FRAMES;
  #filledAt: number;

  /** @param now milliseconds of the monotonic clock, here and below. */
  constructor(now: number) {
    this.#filledAt = now;
  }

  /** False when the limit is exceeded. */
  spend(frame: string, now: number): boolean {
    this.#left = Math.min(MAX_FRAMES, this.#left + ((now - this.#filledAt) / 1000) * FRAMES_PER_SECOND);
    this.#filledAt = now;
    this.#left -= COSTS.get(frame) ?? 1;
    return this.#left >= 0;
  }
}
