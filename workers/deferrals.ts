/** Gives deferred jobs their attempt back, and the time of the next one, as soon as the queue has released them. */
import type pg from 'pg';
import type { Logger } from 'pino';

export interface Deferrals {
  /** @param attempts how many the job had used before this fetch */
  add(jobId: string, attempts: number, seconds: number): void;
  flush(): Promise<void>;
}

interface DeferredJob {
  id: string;
  attempts: number;
  seconds: number;
  tries: number;
}
const WRITE_EVERY_MS = 100;
/** After this many tries the queue has released the job, or the job is gone. */
const MAX_TRIES = 50;

export function openDeferrals(owner: pg.Pool, log: Logger): Deferrals {
  let waiting: DeferredJob[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    timer = null;
    const jobs = waiting;
    waiting = [];
    if (jobs.length === 0) return;
    const done = await reschedule(owner, jobs, log);
    for (const job of jobs) {
      if (!done.has(job.id) && job.tries < MAX_TRIES) waiting.push({ ...job, tries: job.tries + 1 });
    }
    if (waiting.length > 0) timer ??= setTimeout(next, WRITE_EVERY_MS);
  };
  const next = () => {
    writing = writing.then(write);
  };
  return {
    add(id, attempts, seconds) {
      waiting.push({ id, attempts, seconds, tries: 0 });
      timer ??= setTimeout(next, WRITE_EVERY_MS);
    },
    async flush() {
      if (timer) clearTimeout(timer);
      next();
      await writing;
      if (timer) clearTimeout(timer);
    },
  };
}

/** Returns the ids of the jobs that were rescheduled; the queue still holds the others. */
async function reschedule(owner: pg.Pool, jobs: readonly DeferredJob[], log: Logger): Promise<Set<string>> {
  const done = new Set<string>();
  // One statement for each pair of attempts and delay; there are few of them.
  const groups = Map.groupBy(jobs, ({ attempts, seconds }) => `${attempts}/${seconds}`);
  try {
    for (const group of groups.values()) {
      const { rows } = await owner.query<{ id: string }>(
        `select id::text from graphile_worker.reschedule_jobs($1::bigint[], attempts := $2,
           run_at := now() + make_interval(secs => $3))`,
        [group.map(({ id }) => id), group[0]?.attempts, group[0]?.seconds],
      );
      for (const { id } of rows) done.add(id);
    }
  } catch (error) {
    log.warn({ err: error }, 'could not reschedule deferred jobs; trying again');
  }
  return done;
}
