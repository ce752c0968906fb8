/** The processor time that a plugin may take: so much for each call, and as much at its start and between calls. */

const INVOKE = /^\{"id":"[^"]{1,64}","method":"invoke"/;
const ANSWER = /^\{"id":"h\d+","token"/;

export class Budget {
  private readonly perCallMs: number;
  private readonly now: () => number;
  private open = 0;
  private spentMs = 0;
  private allowedMs: number;
  private since: number | null = null;

  /** @param now milliseconds of processor time that this process has taken */
  constructor(perCallMs: number, now: () => number) {
    this.perCallMs = perCallMs;
    this.allowedMs = perCallMs;
    this.now = now;
  }

  /** Runs code of the plugin. */
  spend(run: () => void): void {
    this.since = this.now();
    try {
      run();
    } finally {
      this.spentMs += this.now() - this.since;
      this.since = null;
    }
  }

  /** A line of the host. */
  hear(line: string): void {
    if (!INVOKE.test(line)) return;
    if (this.open === 0) this.begin();
    else this.allowedMs += this.perCallMs;
    this.open += 1;
  }

  /** A line of the plugin. */
  said(line: string): void {
    if (this.open > 0 && ANSWER.test(line) && --this.open === 0) this.begin();
  }

  private begin(): void {
    this.spentMs = 0;
    this.allowedMs = this.perCallMs;
    if (this.since !== null) this.since = this.now();
  }

  get isSpent(): boolean {
    const running = this.since === null ? 0 : this.now() - this.since;
    return this.spentMs + running > this.allowedMs;
  }
}
