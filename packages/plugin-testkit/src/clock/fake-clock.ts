/** A clock that stands still until a test moves it, and the timers that wait for it. */

export interface Timer {
  at: number;
  /** A deadline: what happens outside of the clock is waited for, for a little, before it comes. */
  patient: boolean;
  run(): void;
}

export class FakeClock {
  private time: number;
  private timers: Timer[] = [];

  constructor(start: number) {
    this.time = start;
  }

  readonly now = (): number => this.time;

  /** Milliseconds from now; those of one moment run in the order in which they were set. */
  set(delay: number, run: () => void, patient = false): Timer {
    const timer = { at: this.time + Math.max(0, delay), patient, run };
    const later = this.timers.findIndex(({ at }) => at > timer.at);
    this.timers.splice(later < 0 ? this.timers.length : later, 0, timer);
    return timer;
  }

  clear(timer: Timer | undefined): void {
    this.timers = this.timers.filter((one) => one !== timer);
  }

  /** The next that waits. */
  get next(): Timer | undefined {
    return this.timers[0];
  }

  /** Moves to the next timer and runs it. */
  step(): void {
    const timer = this.timers.shift();
    if (!timer) return;
    this.time = Math.max(this.time, timer.at);
    timer.run();
  }

  /** Moves on; timers in between have been run by `step`. */
  moveTo(time: number): void {
    this.time = Math.max(this.time, time);
  }
}
