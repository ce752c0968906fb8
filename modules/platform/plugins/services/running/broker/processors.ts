/**
 * Processor time of plugins: a partner's processes stand still while they have taken more than their share, whether in a call,
 * between calls or at their start; and all do while they have taken more than all may.
 */
import type { Running } from '../runners/runner.ts';
import { Bucket } from './bucket.ts';

const LOOK_MS = 100;
/** Milliseconds of processor time that a budget holds after a pause, for each millisecond it gets in a second. */
const SAVED = 2;
/** What must be left before they go on. */
const AGAIN = 0.1;

interface Watched {
  running: Running;
  partner: string;
  cpuMs: number;
}
interface Budget {
  bucket: Bucket;
  perSecond: number;
  frozen: boolean;
}

export class Processors {
  private readonly watched = new Set<Watched>();
  private readonly budgets = new Map<string, Budget>();
  private readonly all: Budget;
  private readonly partnerMs: number;
  private timer: NodeJS.Timeout | null = null;

  /** @param processors that all may keep busy @param partnerShare what one partner may of it, 0 to 1 */
  constructor(processors: number, partnerShare: number) {
    this.all = budgetOf(processors * 1_000);
    this.partnerMs = processors * 1_000 * partnerShare;
  }

  watch(partner: string, running: Running): void {
    const one: Watched = { running, partner, cpuMs: 0 };
    this.watched.add(one);
    void running.ended.then(() => this.watched.delete(one));
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
  }

  private look(): void {
    for (const one of this.watched) {
      const cpuMs = one.running.usage()?.cpuMs ?? one.cpuMs;
      // The launcher of a process may have taken some before the process itself is there.
      const taken = Math.max(0, cpuMs - one.cpuMs);
      one.cpuMs = cpuMs;
      this.budget(one.partner).bucket.take(taken);
      this.all.bucket.take(taken);
    }
    const changed = this.judge(this.all);
    for (const partner of new Set([...this.watched].map((one) => one.partner))) {
      const budget = this.budget(partner);
      const before = budget.frozen;
      this.judge(budget);
      if (changed || before !== budget.frozen) this.freeze(partner, budget.frozen || this.all.frozen);
    }
    if (this.watched.size > 0) return;
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    this.budgets.clear();
    this.all.frozen = false;
  }

  private freeze(partner: string, on: boolean): void {
    for (const one of this.watched) if (one.partner === partner) one.running.freeze(on);
  }

  /** Whether that changed. */
  private judge(budget: Budget): boolean {
    const before = budget.frozen;
    const { left } = budget.bucket;
    if (left < 0) budget.frozen = true;
    else if (left > budget.perSecond * AGAIN) budget.frozen = false;
    return before !== budget.frozen;
  }

  private budget(partner: string): Budget {
    const known = this.budgets.get(partner);
    if (known) return known;
    const made = budgetOf(this.partnerMs);
    this.budgets.set(partner, made);
    return made;
  }
}

const budgetOf = (perSecond: number): Budget => ({
  bucket: new Bucket(perSecond, perSecond * SAVED),
  perSecond,
  frozen: false,
});
