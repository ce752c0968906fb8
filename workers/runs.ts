/** Listens to the queue's events and turns each finished attempt into a row of history. */
import type { WorkerEvents } from 'graphile-worker';
import type { Metrics } from '../core/http/metrics.ts';
import type { JobHistory } from '../core/jobs/history.ts';
import type { JobEnvelope } from '../core/jobs/registry.ts';

/** Returns the ids under which this node's workers lock jobs; the set grows as workers start. */
export function recordRuns(events: WorkerEvents, history: JobHistory, metrics?: Metrics): Set<string> {
  const workerIds = new Set<string>();
  const started = new Map<string, Date>();
  events.on('worker:create', ({ worker }) => workerIds.add(worker.workerId));
  events.on('worker:release', ({ worker }) => workerIds.delete(worker.workerId));
  events.on('job:start', ({ job }) => started.set(String(job.id), new Date()));
  const finish = (
    job: { id: unknown; task_identifier: string; key: string | null; attempts: number; payload: unknown },
    outcome: 'success' | 'error' | 'failed',
    error?: unknown,
  ) => {
    const jobId = String(job.id);
    const finishedAt = new Date();
    const startedAt = started.get(jobId) ?? finishedAt;
    metrics?.job(job.task_identifier, outcome, (finishedAt.getTime() - startedAt.getTime()) / 1000);
    history.add({
      jobId,
      task: job.task_identifier,
      queue: null,
      key: job.key,
      attempt: job.attempts,
      startedAt,
      finishedAt,
      outcome,
      error: error === undefined ? null : error instanceof Error ? error.message : String(error),
      orgId: (job.payload as Partial<JobEnvelope> | null)?.orgId ?? null,
    });
    started.delete(jobId);
  };
  events.on('job:success', ({ job }) => finish(job, 'success'));
  events.on('job:error', ({ job, error }) => {
    if (job.attempts < job.max_attempts) finish(job, 'error', error);
  });
  events.on('job:failed', ({ job, error }) => finish(job, 'failed', error));
  return workerIds;
}
