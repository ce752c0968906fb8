/** How often something may happen in a minute, by installation: counted by this process alone. */

const MINUTE_MS = 60_000;
const MOST_KNOWN = 20_000;

export class Rates {
  private readonly windows = new Map<string, { minute: number; count: number }>();
  private readonly now: () => number;

  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  /** Counts one; false where there were as many as may be. */
  take(key: string, most: number): boolean {
    const minute = Math.floor(this.now() / MINUTE_MS);
    const window = this.windows.get(key);
    if (window?.minute === minute) {
      window.count += 1;
      return window.count <= most;
    }
    if (this.windows.size >= MOST_KNOWN) this.windows.clear();
    this.windows.set(key, { minute, count: 1 });
    return most > 0;
  }

  /** True for the first that went over. */
  isFirstOver(key: string, most: number): boolean {
    return this.windows.get(key)?.count === most + 1;
  }

  millisecondsLeft(): number {
    return MINUTE_MS - (this.now() % MINUTE_MS);
  }
}
