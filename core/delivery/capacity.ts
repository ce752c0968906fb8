/** How many attempts this process may start, and for which receivers: half of them is kept for receivers known to be quick. */

/** Milliseconds after which a receiver is not quick. */
const QUICK_MS = 2_000;
/** Quick receivers that are remembered; beyond it all are forgotten, and each becomes quick again with its next answer. */
const MAX_QUICK = 10_000;

/** Attempts that may start now: in all, for receivers that are not known to be quick, and the quick receivers. */
export interface Room {
  free: number;
  othersFree: number;
  quick: readonly string[];
}

export class Capacity {
  readonly #perProcess: number;
  readonly #perPartition: number;
  readonly #underWay = new Map<{ receiver: string }, number>();
  /** Receivers whose last answer was quick. */
  readonly #quick = new Set<string>();

  /** @param perPartition receivers that are not quick get at least so many together */
  constructor(perProcess: number, perPartition: number) {
    this.#perProcess = perProcess;
    this.#perPartition = perPartition;
  }

  take(message: { receiver: string }): void {
    this.#underWay.set(message, performance.now());
  }

  leave(message: { receiver: string }): void {
    const took = performance.now() - (this.#underWay.get(message) ?? 0);
    this.#underWay.delete(message);
    if (took >= QUICK_MS) this.#quick.delete(message.receiver);
    else if (this.#quick.size < MAX_QUICK) this.#quick.add(message.receiver);
    else this.#quick.clear();
  }

  /** A receiver stops being quick as soon as an attempt takes too long, before it answers. */
  room(): Room {
    const now = performance.now();
    let others = 0;
    for (const [{ receiver }, since] of this.#underWay) if (now - since >= QUICK_MS) this.#quick.delete(receiver);
    for (const { receiver } of this.#underWay.keys()) if (!this.#quick.has(receiver)) others += 1;
    const half = Math.min(this.#perProcess, Math.max(this.#perPartition, Math.floor(this.#perProcess / 2)));
    return {
      free: this.#perProcess - this.#underWay.size,
      othersFree: Math.max(0, half - others),
      quick: [...this.#quick],
    };
  }
}
