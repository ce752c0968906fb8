/** Follows the queue's events: which jobs this node runs, and a row of history for each finished attempt. */
import type { Job, WorkerEvents } from 'graphile-worker';
import {
  type ConcurrencyGate,
  Deferral,
  type JobEnvelope,
  type JobHistory,
  type JobMetrics,
  subjectOf,
} from '#core/jobs';
import type { Deferrals } from './deferrals.ts';

export interface Running {
  /** The names under which this node locks jobs. */
  readonly poolIds: ReadonlySet<string>;
  /** When each running job started, by its id. */
  readonly started: ReadonlyMap<string, Date>;
}
interface Recorders {
  history: JobHistory;
  metrics?: JobMetrics | undefined;
  gate: ConcurrencyGate;
  deferrals: Deferrals;
  /** Jobs that did not run because their module is off. */
  skipped: WeakSet<object>;
}

export function recordRuns(events: WorkerEvents, { history, metrics, gate, deferrals, skipped }: Recorders): Running {
  const poolIds = new Set<string>();
  const started = new Map<string, Date>();
  const fetches = new Map<string, number>();
  events.on('worker:create', ({ worker }) => poolIds.add(worker.workerPool.id));
  events.on('worker:getJob:start', ({ worker }) => fetches.set(worker.workerId, performance.now()));
  events.on('worker:getJob:empty', ({ worker }) =>
    gate.foundNothing(performance.now() - (fetches.get(worker.workerId) ?? 0)),
  );
  events.on('job:start', ({ job }) => started.set(String(job.id), new Date()));
  events.on('job:complete', ({ job }) => started.delete(String(job.id)));
  const finish = (job: Job, outcome: 'success' | 'error' | 'failed' | 'skipped', error?: unknown) => {
    const jobId = String(job.id);
    const finishedAt = new Date();
    const startedAt = started.get(jobId) ?? finishedAt;
    const payload = job.payload as Partial<JobEnvelope> | null;
    metrics?.job(job.task_identifier, outcome, (finishedAt.getTime() - startedAt.getTime()) / 1000);
    history.add({
      jobId,
      task: job.task_identifier,
      queue: null,
      key: job.key,
      attempt: job.attempts,
      dueAt: job.run_at,
      startedAt,
      finishedAt,
      outcome,
      error: error === undefined ? null : error instanceof Error ? error.message : String(error),
      orgId: payload?.orgId ?? null,
      subject: subjectOf(payload?.data),
    });
  };
  events.on('job:success', ({ job }) => finish(job, skipped.has(job) ? 'skipped' : 'success'));
  events.on('job:error', ({ job, error }) => {
    if (error instanceof Deferral) {
      metrics?.deferral(job.task_identifier);
      deferrals.add(String(job.id), job.attempts - 1, error.seconds);
    } else finish(job, job.attempts < job.max_attempts ? 'error' : 'failed', error);
  });
  return { poolIds, started };
}
