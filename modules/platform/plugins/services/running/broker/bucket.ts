/** A budget that fills again with time, and may be overdrawn by what was taken last. */
export class Bucket {
  private readonly perSecond: number;
  private readonly most: number;
  private readonly now: () => number;
  private level: number;
  private at: number;

  /** @param most what it holds after a pause @param now milliseconds */
  constructor(perSecond: number, most: number, now: () => number = () => performance.now()) {
    this.perSecond = perSecond;
    this.most = most;
    this.now = now;
    this.level = most;
    this.at = now();
  }

  get isOpen(): boolean {
    return this.left > 0;
  }

  get left(): number {
    const now = this.now();
    this.level = Math.min(this.most, this.level + ((now - this.at) / 1_000) * this.perSecond);
    this.at = now;
    return this.level;
  }

  take(amount: number): void {
    this.level = this.left - amount;
  }
}
