/** Who may have how many of this process's places: half of them is for receivers that are known to be quick. */

/** Milliseconds after which a receiver is not quick. */
const QUICK_MS = 2_000;
/** Receivers that are remembered as quick; forgetting them costs them nothing but their half for a moment. */
const MOST_KNOWN = 10_000;

/** Where this process has room: in all, for receivers that are not known to be quick, and which are. */
export interface Room {
  free: number;
  othersFree: number;
  quick: readonly string[];
}

export class Places<C> {
  private readonly most: number;
  private readonly each: number;
  private readonly receiverOf: (claim: C) => string;
  private readonly underWay = new Map<C, number>();
  /** Receivers whose last answer was quick. */
  private readonly quick = new Set<string>();

  /** @param each what one receiver may have at a time; so many are left to those who are not quick, at least */
  constructor(most: number, each: number, receiverOf: (claim: C) => string) {
    this.most = most;
    this.each = each;
    this.receiverOf = receiverOf;
  }

  take(claim: C): void {
    this.underWay.set(claim, performance.now());
  }

  leave(claim: C): void {
    const took = performance.now() - (this.underWay.get(claim) ?? 0);
    const receiver = this.receiverOf(claim);
    this.underWay.delete(claim);
    if (took >= QUICK_MS) this.quick.delete(receiver);
    else if (this.quick.size < MOST_KNOWN) this.quick.add(receiver);
    else this.quick.clear();
  }

  /** A receiver that lets us wait is not quick any more, before it answers. */
  room(): Room {
    const now = performance.now();
    for (const [claim, since] of this.underWay) if (now - since >= QUICK_MS) this.quick.delete(this.receiverOf(claim));
    let others = 0;
    for (const claim of this.underWay.keys()) if (!this.quick.has(this.receiverOf(claim))) others += 1;
    const half = Math.min(this.most, Math.max(this.each, Math.floor(this.most / 2)));
    return { free: this.most - this.underWay.size, othersFree: half - others, quick: [...this.quick] };
  }
}
