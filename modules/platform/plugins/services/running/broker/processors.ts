/**
 * Processor time of plugins: while those of a partner have taken more than its share, whether in a call, between calls or at
 * their start, the ones that took it stand still; and so do those of all while they have taken more than all may.
 */
import type { Running } from '../runners/runner.ts';
import { Bucket } from './bucket.ts';

const LOOK_MS = 100;
/** Milliseconds of processor time that a budget holds after a pause, for each millisecond it gets in a second. */
const SAVED = 2;
/** What must be left before they go on. */
const AGAIN = 0.1;
/** What counts of the time taken before, with each look. */
const FADING = 0.9;
/** Of what the one of its partner that took most took lately, what another must have taken to stand still as well. */
const HEAVY = 0.5;

interface Watched {
  running: Running;
  partner: string;
  cpuMs: number;
  /** Taken lately, older time counting less. */
  lately: number;
  frozen: boolean;
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
    const one: Watched = { running, partner, cpuMs: 0, lately: 0, frozen: false };
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
      one.lately = one.lately * FADING + taken;
      this.budget(one.partner).bucket.take(taken);
      this.all.bucket.take(taken);
    }
    judge(this.all);
    for (const [partner, all] of Map.groupBy(this.watched, (one) => one.partner)) {
      const budget = this.budget(partner);
      judge(budget);
      freeze(all, budget.frozen || this.all.frozen);
    }
    if (this.watched.size > 0) return;
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    this.budgets.clear();
    this.all.frozen = false;
  }

  private budget(partner: string): Budget {
    const known = this.budgets.get(partner);
    if (known) return known;
    const made = budgetOf(this.partnerMs);
    this.budgets.set(partner, made);
    return made;
  }
}

/** What stands still goes on only when the budget of its partner does. */
function freeze(all: readonly Watched[], on: boolean): void {
  const most = Math.max(...all.map(({ lately }) => lately));
  for (const one of all) {
    const frozen = on && (one.frozen || one.lately >= most * HEAVY);
    if (frozen !== one.frozen) one.running.freeze(frozen);
    one.frozen = frozen;
  }
}

function judge(budget: Budget): void {
  const { left } = budget.bucket;
  if (left < 0) budget.frozen = true;
  else if (left > budget.perSecond * AGAIN) budget.frozen = false;
}

const budgetOf = (perSecond: number): Budget => ({
  bucket: new Bucket(perSecond, perSecond * SAVED),
  perSecond,
  frozen: false,
});
