/** What ran, how long and how it ended: buffered rows of job_runs; statistics, not truth. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { outageOf } from '../database/errors.ts';
import { storable } from '../work/index.ts';
import { MinuteStats } from './stats.ts';

export interface JobRun {
  jobId: string;
  task: string;
  queue: string | null;
  key: string | null;
  attempt: number;
  /** When it could have started. */
  dueAt: Date;
  startedAt: Date;
  finishedAt: Date;
  outcome: 'success' | 'error' | 'failed' | 'skipped';
  error: string | null;
  orgId: string | null;
  subject: { type: string; id: string } | null;
}

/** Groups failures that differ only in ids and numbers. */
export function fingerprint(task: string, message: string): string {
  const shape = message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '#').replace(/\d+/g, '#');
  return createHash('sha256').update(`${task}\n${shape}`).digest('hex').slice(0, 32);
}

const SECRETS: readonly [RegExp, string][] = [
  [/(:\/\/[^:/@\s]+:)[^@\s]+@/g, '$1[REDACTED]@'],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [REDACTED]'],
  [/\b(password|passwd|secret|token|api[_-]?key|authorization)(["']?\s*[:=]\s*["']?)[^\s"',;&]+/gi, '$1$2[REDACTED]'],
  [/\b(svc|brz|qma|inv|enr)_[\w-]{12,}/g, '$1_[REDACTED]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[REDACTED]'],
];

/** An error's message without what looks like a credential, at most 2,000 characters. */
export function redactMessage(message: string): string {
  return SECRETS.reduce((text, [shape, instead]) => text.replace(shape, instead), message.slice(0, 4000)).slice(
    0,
    2000,
  );
}

/** What a job is about: the first id among its data. */
export function subjectOf(data: unknown): { type: string; id: string } | null {
  if (data === null || typeof data !== 'object') return null;
  for (const [name, value] of Object.entries(data)) {
    if (/Id$/.test(name) && typeof value === 'string') return { type: name.slice(0, -2), id: value.slice(0, 100) };
  }
  return null;
}

export interface JobHistory {
  add(run: JobRun): void;
  flush(): Promise<void>;
}

/** Successes of one task in a minute on one node of which each is a row; then one of 10, and from ten times as many one of 100. */
const WHOLE = 200;
const kept = (nth: number): boolean => nth <= WHOLE || nth % (nth <= WHOLE * 10 ? 10 : 100) === 0;

const RUNS = `insert into job_runs (job_id, task, queue, key, attempt, started_at, finished_at, duration_ms, outcome,
     error_message, error_fingerprint, node_id, org_id, wait_ms, subject_type, subject_id)
   select (r ->> 'jobId')::bigint, r ->> 'task', r ->> 'queue', r ->> 'key', (r ->> 'attempt')::int,
     (r ->> 'startedAt')::timestamptz, (r ->> 'finishedAt')::timestamptz, (r ->> 'durationMs')::int,
     r ->> 'outcome', r ->> 'error', r ->> 'print', $2, (r ->> 'orgId')::uuid, (r ->> 'waitMs')::int,
     r -> 'subject' ->> 'type', r -> 'subject' ->> 'id'
   from jsonb_array_elements($1::jsonb -> 'runs') r`;
const COUNTS = `insert into job_stats_minute (minute, task, node_id, started, succeeded, errored, failed, duration_sum,
     duration_max, wait_sum, wait_max, durations, waits)
   select s.minute, s.task, $2, s.started, s.succeeded, s.errored, s.failed, s."durationSum", s."durationMax", s."waitSum",
     s."waitMax", s.durations, s.waits
   from jsonb_to_recordset($1::jsonb -> 'counts') s(minute timestamptz, task text, started int, succeeded int,
     errored int, failed int, "durationSum" bigint, "durationMax" int, "waitSum" bigint, "waitMax" int, durations int[],
     waits int[])
   on conflict (minute, task, node_id) do update set (started, succeeded, errored, failed, duration_sum, duration_max,
     wait_sum, wait_max, durations, waits) = (excluded.started, excluded.succeeded, excluded.errored, excluded.failed,
     excluded.duration_sum, excluded.duration_max, excluded.wait_sum, excluded.wait_max, excluded.durations, excluded.waits)`;
const CLOCKS = `insert into cron_status (identifier, last_run, last_outcome, last_duration_ms)
   select c.task, c."finishedAt", c.outcome, c."durationMs"
   from jsonb_to_recordset($1::jsonb -> 'clocks') c(task text, "finishedAt" timestamptz, outcome text, "durationMs" int)
   order by c.task
   on conflict (identifier) do update set last_run = excluded.last_run, last_outcome = excluded.last_outcome,
     last_duration_ms = excluded.last_duration_ms
   where cron_status.last_run is null or cron_status.last_run <= excluded.last_run`;

/** Milliseconds until rows that the database could not take are tried again. */
const AGAIN_MS = 5000;
/** Rows that wait for the database at most; beyond that the oldest go. */
const MAX_WAITING = 10_000;

/**
 * Writes each second or each 200 rows, whichever comes first. While the database is away the rows wait, so that what failed
 * because of it is seen later; rows that it refuses are dropped with a warning.
 * @param scheduled says which tasks have a schedule, whose last run is noted too
 */
export function openHistory(
  pool: pg.Pool,
  nodeId: string,
  log: Logger,
  scheduled: (task: string) => boolean = () => false,
): JobHistory {
  const stats = new MinuteStats();
  let waiting: object[] = [];
  let clocks = new Map<string, object>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    if (timer) clearTimeout(timer);
    timer = null;
    const counts = stats.take();
    if (counts.length === 0) return;
    const [runs, times] = [waiting, clocks];
    waiting = [];
    clocks = new Map();
    const parts = [...(runs.length > 0 ? [`a as (${RUNS})`] : []), ...(times.size > 0 ? [`b as (${CLOCKS})`] : [])];
    try {
      await pool.query(`${parts.length > 0 ? `with ${parts.join(', ')} ` : ''}${COUNTS}`, [
        storable({ runs, counts, clocks: [...times.values()] }),
        nodeId,
      ]);
    } catch (error) {
      log.warn({ err: error, rows: runs.length }, 'job history could not be written');
      if (!outageOf(error)) return;
      waiting = [...runs, ...waiting].slice(-MAX_WAITING);
      clocks = new Map([...times, ...clocks]);
      stats.giveBack(counts);
      timer ??= setTimeout(next, AGAIN_MS).unref();
    }
  };
  const next = () => {
    writing = writing.then(write);
  };
  return {
    add(run) {
      const { task, outcome, finishedAt } = run;
      const durationMs = Math.min(2_147_483_647, finishedAt.getTime() - run.startedAt.getTime());
      const waitMs = Math.min(2_147_483_647, Math.max(0, run.startedAt.getTime() - run.dueAt.getTime()));
      const nth = stats.add(task, outcome, finishedAt, { durationMs, waitMs });
      if (scheduled(task)) clocks.set(task, { task, finishedAt, outcome, durationMs });
      if (outcome !== 'success' || kept(nth)) {
        const error = run.error === null ? null : redactMessage(run.error);
        const print = error === null ? null : fingerprint(task, error);
        waiting.push({ ...run, durationMs, waitMs, error, print });
      }
      if (waiting.length === 200) next();
      else timer ??= setTimeout(next, 1000);
    },
    async flush() {
      next();
      await writing;
    },
  };
}
