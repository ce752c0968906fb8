/** What ran, how long and how it ended: buffered rows of job_runs; statistics, not truth (domain/job-queue-ops, section 2). */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { storable } from '../work.ts';

export interface JobRun {
  jobId: string;
  task: string;
  queue: string | null;
  key: string | null;
  attempt: number;
  startedAt: Date;
  finishedAt: Date;
  outcome: 'success' | 'error' | 'failed';
  error: string | null;
  orgId: string | null;
}

/** Groups failures that differ only in ids and numbers. */
export function fingerprint(task: string, message: string): string {
  const shape = message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '#').replace(/\d+/g, '#');
  return createHash('sha256').update(`${task}\n${shape}`).digest('hex').slice(0, 32);
}

export interface JobHistory {
  add(run: JobRun): void;
  flush(): Promise<void>;
}

/** Writes each second or each 200 rows, whichever comes first; rows that cannot be written are dropped with a warning. */
export function openHistory(pool: pg.Pool, nodeId: string, log: Logger): JobHistory {
  let waiting: JobRun[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    if (timer) clearTimeout(timer);
    timer = null;
    const rows = waiting;
    if (rows.length === 0) return;
    waiting = [];
    const values = rows.map((run) => ({
      ...run,
      durationMs: run.finishedAt.getTime() - run.startedAt.getTime(),
      error: run.error?.slice(0, 2000) ?? null,
      print: run.error ? fingerprint(run.task, run.error) : null,
    }));
    await pool
      .query(
        `insert into job_runs (job_id, task, queue, key, attempt, started_at, finished_at, duration_ms, outcome,
           error_message, error_fingerprint, node_id, org_id)
         select (r ->> 'jobId')::bigint, r ->> 'task', r ->> 'queue', r ->> 'key', (r ->> 'attempt')::int,
           (r ->> 'startedAt')::timestamptz, (r ->> 'finishedAt')::timestamptz, (r ->> 'durationMs')::int,
           r ->> 'outcome', r ->> 'error', r ->> 'print', $2, (r ->> 'orgId')::uuid
         from jsonb_array_elements($1::jsonb) r`,
        [storable(values), nodeId],
      )
      .catch((error) => log.warn({ err: error, rows: rows.length }, 'job history could not be written'));
  };
  const next = () => {
    writing = writing.then(write);
  };
  return {
    add(run) {
      waiting.push(run);
      if (waiting.length >= 200) next();
      else timer ??= setTimeout(next, 1000);
    },
    async flush() {
      next();
      await writing;
    },
  };
}
