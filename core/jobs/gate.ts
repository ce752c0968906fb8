/** What a node may start now: how many jobs of one tenant and of one task at once, and no task that is paused. */

/** Thrown instead of running a job: it goes back to the queue with all of its attempts. */
export class PutOff extends Error {
  override name = 'PutOff';
  readonly seconds: number;

  constructor(why: string, seconds: number) {
    super(`Put off: ${why}`);
    this.seconds = seconds;
  }
}

export interface Limits {
  /** Jobs of one tenant at once on this node. */
  tenant: number;
  /** Counts short jobs too. Without it they pass: their places are free again before anybody has waited for long. */
  strict: boolean;
  /** By task. */
  tasks: Readonly<Record<string, number>>;
}

/** The flags that a job carries, by which a worker leaves it out without fetching it. */
export const flagsOf = (task: string, orgId: string | null): string[] =>
  orgId ? [`org:${orgId}`, `task:${task}`] : [`task:${task}`];

/** A task that takes less than this on average, over three runs at least, is short. */
const SHORT_MS = 250;

export class Gate {
  private readonly limits: Limits;
  private readonly byTenant = new Map<string, number>();
  private readonly byTask = new Map<string, number>();
  private readonly means = new Map<string, { runs: number; ms: number }>();
  private paused: ReadonlySet<string> = new Set();
  private restUntil = 0;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  pause(tasks: readonly string[]): void {
    this.paused = new Set(tasks);
  }

  /**
   * Lets a job start and returns what must be called when it ended. Throws PutOff. Mostly the flags have kept such a job
   * out already; this is for two that were fetched at the same moment, and for rows without flags.
   */
  enter(task: string, orgId: string | null): () => void {
    if (this.paused.has(task)) throw new PutOff('the task is paused', 60);
    const most = this.limits.tasks[task];
    if (most !== undefined && (this.byTask.get(task) ?? 0) >= most) throw new PutOff('enough of the task runs', 1);
    const tenant = this.limits.strict || !this.isShort(task) ? orgId : null;
    if (tenant && (this.byTenant.get(tenant) ?? 0) >= this.limits.tenant) {
      throw new PutOff('enough of the tenant runs', 1);
    }
    count(this.byTask, task, 1);
    if (tenant) count(this.byTenant, tenant, 1);
    const begun = performance.now();
    return () => {
      count(this.byTask, task, -1);
      if (tenant) count(this.byTenant, tenant, -1);
      this.took(task, performance.now() - begun);
    };
  }

  /** What a worker must leave out of its next fetch; resolves late while fetches with flags find nothing. */
  forbidden(): string[] | null | Promise<string[]> {
    const flags = this.flags();
    if (flags.length === 0) return null;
    const rest = this.restUntil - performance.now();
    if (rest <= 0) return flags;
    return new Promise((resolve) => setTimeout(() => resolve(this.flags()), rest));
  }

  /**
   * A fetch that found nothing took so many ms. With flags it may have walked over all that a tenant has waiting: the next
   * ones wait a multiple of it, so that looking takes no more than a fifth of the time.
   */
  foundNothing(ms: number): void {
    if (this.flags().length > 0) this.restUntil = performance.now() + Math.min(500, ms * 4);
  }

  private isShort(task: string): boolean {
    const mean = this.means.get(task);
    return mean !== undefined && mean.runs >= 3 && mean.ms < SHORT_MS;
  }

  /** A moving mean: about the last ten runs count. */
  private took(task: string, ms: number): void {
    const mean = this.means.get(task) ?? { runs: 0, ms };
    this.means.set(task, { runs: mean.runs + 1, ms: mean.ms + (ms - mean.ms) / 10 });
  }

  private flags(): string[] {
    const flags: string[] = [];
    for (const task of this.paused) flags.push(`task:${task}`);
    for (const [task, most] of Object.entries(this.limits.tasks))
      if ((this.byTask.get(task) ?? 0) >= most) flags.push(`task:${task}`);
    for (const [orgId, running] of this.byTenant) if (running >= this.limits.tenant) flags.push(`org:${orgId}`);
    return flags;
  }
}

function count(map: Map<string, number>, key: string, by: 1 | -1): void {
  const next = (map.get(key) ?? 0) + by;
  if (next > 0) map.set(key, next);
  else map.delete(key);
}
