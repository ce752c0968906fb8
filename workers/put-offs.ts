/** Gives jobs that were put off their attempt back, and the moment to try again, as soon as the queue has let go of them. */
import type pg from 'pg';
import type { Logger } from 'pino';

export interface PutOffs {
  /** @param attempts how many the job had used before this fetch */
  add(jobId: string, attempts: number, seconds: number): void;
  flush(): Promise<void>;
}

interface Waiting {
  id: string;
  attempts: number;
  seconds: number;
  tries: number;
}
const AFTER_MS = 100;
/** By then the queue has let go of a job, or it is gone. */
const TRIES = 50;

export function openPutOffs(owner: pg.Pool, log: Logger): PutOffs {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    timer = null;
    const rows = waiting;
    waiting = [];
    if (rows.length === 0) return;
    const done = new Set<string>();
    try {
      // One statement for each number of attempts and delay, which are few.
      for (const [like, ids] of grouped(rows)) {
        const { rows: changed } = await owner.query<{ id: string }>(
          `select id::text from graphile_worker.reschedule_jobs($1::bigint[], attempts := $2,
             run_at := now() + make_interval(secs => $3))`,
          [ids, like.attempts, like.seconds],
        );
        for (const { id } of changed) done.add(id);
      }
    } catch (error) {
      log.warn({ err: error }, 'jobs that were put off could not be given back yet');
    }
    for (const row of rows) if (!done.has(row.id) && row.tries < TRIES) waiting.push({ ...row, tries: row.tries + 1 });
    if (waiting.length > 0) timer ??= setTimeout(next, AFTER_MS);
  };
  const next = () => {
    writing = writing.then(write);
  };
  return {
    add(id, attempts, seconds) {
      waiting.push({ id, attempts, seconds, tries: 0 });
      timer ??= setTimeout(next, AFTER_MS);
    },
    async flush() {
      if (timer) clearTimeout(timer);
      next();
      await writing;
      if (timer) clearTimeout(timer);
    },
  };
}

function grouped(rows: readonly Waiting[]): Map<Waiting, string[]> {
  const groups = new Map<Waiting, string[]>();
  const heads = new Map<string, Waiting>();
  for (const row of rows) {
    const name = `${row.attempts}/${row.seconds}`;
    const head = heads.get(name) ?? row;
    heads.set(name, head);
    groups.set(head, [...(groups.get(head) ?? []), row.id]);
  }
  return groups;
}
