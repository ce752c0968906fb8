/** What a node may start now: how many jobs of one tenant and of one task run at once, and which tasks are paused. */

/** Thrown instead of running a job: the job returns to the queue with all of its attempts. */
export class Deferral extends Error {
  override name = 'Deferral';
  /** Until the next attempt. */
  readonly seconds: number;

  constructor(reason: string, seconds: number) {
    super(`Deferred: ${reason}`);
    this.seconds = seconds;
  }
}

export interface ConcurrencyLimits {
  /** Jobs of one tenant at once on this node. */
  tenant: number;
  /** Counts short jobs too. Without it short jobs are not limited: they end before other tenants wait for long. */
  strict: boolean;
  /** Jobs at once by task. */
  tasks: Readonly<Record<string, number>>;
}

/** The flags that a job carries, by which a worker skips it without fetching it. */
export const flagsOf = (task: string, orgId: string | null): string[] =>
  orgId ? [`org:${orgId}`, `task:${task}`] : [`task:${task}`];

/** A task is short when its runs, at least three, take less than this on average. */
const SHORT_TASK_MS = 250;
/** The longest pause between fetches that find nothing. */
const MAX_PAUSE_MS = 500;
const PAUSED_SECONDS = 60;
const LIMITED_SECONDS = 1;

export class ConcurrencyGate {
  readonly #limits: ConcurrencyLimits;
  readonly #runningByTenant = new Map<string, number>();
  readonly #runningByTask = new Map<string, number>();
  readonly #averages = new Map<string, { runs: number; ms: number }>();
  #paused: ReadonlySet<string> = new Set();
  #pauseUntil = 0;

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  /** @param tasks every task that is paused now */
  pause(tasks: readonly string[]): void {
    this.#paused = new Set(tasks);
  }

  /**
   * Lets a job start. Returns a function to call when the job has ended. Throws Deferral when the job may not start; flags
   * keep most such jobs from being fetched, so this is for two fetched at the same moment and for rows without flags.
   */
  enter(task: string, orgId: string | null): () => void {
    if (this.#paused.has(task)) throw new Deferral('the task is paused', PAUSED_SECONDS);
    const taskLimit = this.#limits.tasks[task];
    if (taskLimit !== undefined && (this.#runningByTask.get(task) ?? 0) >= taskLimit) {
      throw new Deferral('the task is at its limit', LIMITED_SECONDS);
    }
    const tenant = this.#limits.strict || !this.#isShort(task) ? orgId : null;
    if (tenant && (this.#runningByTenant.get(tenant) ?? 0) >= this.#limits.tenant) {
      throw new Deferral('the tenant is at its limit', LIMITED_SECONDS);
    }
    count(this.#runningByTask, task, 1);
    if (tenant) count(this.#runningByTenant, tenant, 1);
    const startedAt = performance.now();
    return () => {
      count(this.#runningByTask, task, -1);
      if (tenant) count(this.#runningByTenant, tenant, -1);
      this.#recordDuration(task, performance.now() - startedAt);
    };
  }

  /** The flags that a worker excludes from its next fetch. Resolves late while fetches with flags find nothing. */
  forbidden(): string[] | null | Promise<string[]> {
    const flags = this.#flags();
    if (flags.length === 0) return null;
    const pauseMs = this.#pauseUntil - performance.now();
    if (pauseMs <= 0) return flags;
    return new Promise((resolve) => setTimeout(() => resolve(this.#flags()), pauseMs));
  }

  /**
   * Reports a fetch that found nothing. With flags it may have scanned everything that a tenant has queued, so the next
   * fetch waits four times as long: fetching takes at most a fifth of the time.
   */
  foundNothing(fetchMs: number): void {
    if (this.#flags().length > 0) this.#pauseUntil = performance.now() + Math.min(MAX_PAUSE_MS, fetchMs * 4);
  }

  #isShort(task: string): boolean {
    const average = this.#averages.get(task);
    return average !== undefined && average.runs >= 3 && average.ms < SHORT_TASK_MS;
  }

  /** A moving average over about the last ten runs. */
  #recordDuration(task: string, ms: number): void {
    const average = this.#averages.get(task) ?? { runs: 0, ms };
    this.#averages.set(task, { runs: average.runs + 1, ms: average.ms + (ms - average.ms) / 10 });
  }

  #flags(): string[] {
    const flags: string[] = [];
    for (const task of this.#paused) flags.push(`task:${task}`);
    for (const [task, limit] of Object.entries(this.#limits.tasks)) {
      if ((this.#runningByTask.get(task) ?? 0) >= limit) flags.push(`task:${task}`);
    }
    for (const [orgId, running] of this.#runningByTenant) {
      if (running >= this.#limits.tenant) flags.push(`org:${orgId}`);
    }
    return flags;
  }
}

function count(running: Map<string, number>, key: string, by: 1 | -1): void {
  const next = (running.get(key) ?? 0) + by;
  if (next > 0) running.set(key, next);
  else running.delete(key);
}
