/** Why a job is not running: every reason that applies now, the decisive one first. */
import type { Context } from '#core';
import type { JobRow } from '../../models/shapes.ts';
import { mustExist } from './queue.ts';

export interface Reason {
  code: string;
  message: string;
  details?: Record<string, unknown>;
}
interface JobSurroundings {
  pausedAt: Date | null;
  pauseReason: string | null;
  holder: { id: number; task: string; nodeId: string | null } | null;
  nodes: { id: string; state: string; concurrency: number; active: number; knows: boolean; drains: boolean }[];
  tenantRunning: number;
  taskRunning: number;
  ahead: number;
}

/** Throws 404 for a job that is not in the queue. */
export async function explainJob(ctx: Context, id: number): Promise<object> {
  const row = await mustExist(ctx, id);
  const reasons = await reasonsOf(ctx, row);
  return { id, task: row.task, state: row.state, startable: reasons[0]?.code === 'NEXT', reasons };
}

async function reasonsOf(ctx: Context, row: JobRow): Promise<Reason[]> {
  const done = ended(row);
  if (done) return [done];
  const place = await placeOf(ctx, row);
  const reasons = [...waits(row, place), ...workers(place), ...limits(ctx, row, place)];
  if (reasons.length > 0 && row.state !== 'ready') return reasons;
  return [...reasons, ...turn(place, reasons.length > 0)];
}

/** Reasons that follow from the row alone. */
function ended({ state, nodeId, lockedAt, lastError, attempts, maxAttempts }: JobRow): Reason | null {
  if (state === 'running') {
    return { code: 'RUNNING', message: `It runs on ${nodeId}`, details: { nodeId, since: lockedAt } };
  }
  if (state === 'stuck') {
    const message = nodeId
      ? `It has been running on ${nodeId} for far longer than others`
      : 'The worker that runs it no longer exists';
    return { code: 'STUCK', message, details: { nodeId, since: lockedAt } };
  }
  if (state === 'cancelled') return { code: 'CANCELLED', message: lastError ?? 'It was cancelled' };
  if (state !== 'failed') return null;
  return {
    code: 'ATTEMPTS_USED_UP',
    message: `All ${maxAttempts} attempts failed; the last one: ${lastError}`,
    details: { attempts, maxAttempts },
  };
}

async function placeOf(ctx: Context, { id, task, queue, orgId }: JobRow): Promise<JobSurroundings> {
  const { rows } = await ctx.sql<JobSurroundings>(
    `select p.paused_at as "pausedAt", p.reason as "pauseReason", queue_ahead($1) as ahead,
       (select json_build_object('id', h.id, 'task', h.task, 'nodeId', h.node_id)
         from queue_jobs(jsonb_build_object('queue', $3::text, 'held', true), '{}', 0, 0, 1) h
         where $3::text is not null) as holder,
       (select count(*)::int from queue_jobs(jsonb_build_object('orgId', $4::text, 'held', true), '{}', 0, 0, null) r
         where $4::text is not null) as "tenantRunning",
       (select count(*)::int from queue_jobs(jsonb_build_object('task', $2::text, 'held', true), '{}', 0, 0, null) r) as "taskRunning",
       coalesce((select json_agg(json_build_object('id', n.id, 'state', n.state, 'concurrency', n.concurrency,
           'active', n.active_jobs, 'knows', $2 = any(n.tasks), 'drains', n.drain_requested_at is not null))
         from worker_nodes n where n.state in ('running', 'draining')
           and n.heartbeat_at > now() - interval '20 seconds'), '[]') as nodes
     from (values (1)) one left join paused_tasks p on p.task = $2`,
    [id, task, queue, orgId],
  );
  const [place] = rows;
  if (!place) throw new Error('a query without rows');
  return place;
}

function waits({ runAt, attempts, maxAttempts, lastError, task }: JobRow, place: JobSurroundings): Reason[] {
  const reasons: Reason[] = [];
  if (place.pausedAt) {
    const why = place.pauseReason ? `: ${place.pauseReason}` : '';
    reasons.push({
      code: 'TASK_PAUSED',
      message: `The task ${task} is paused${why}`,
      details: { since: place.pausedAt },
    });
  }
  if (runAt > new Date()) {
    const retried = attempts > 0;
    reasons.push({
      code: retried ? 'BACKING_OFF' : 'NOT_DUE',
      message: retried
        ? `Attempt ${attempts} of ${maxAttempts} failed (${lastError}); the next one is at ${runAt.toISOString()}`
        : `It is due at ${runAt.toISOString()}`,
      details: { until: runAt },
    });
  }
  if (place.holder) {
    const { id, task: other, nodeId } = place.holder;
    reasons.push({
      code: 'QUEUE_BUSY',
      message: `Its queue runs one job at a time, and job ${id} (${other}) is running`,
      details: { jobId: id, nodeId },
    });
  }
  return reasons;
}

function workers({ nodes }: JobSurroundings): Reason[] {
  if (nodes.length === 0) return [{ code: 'NO_WORKER', message: 'No worker has sent a heartbeat for 20 seconds' }];
  const knowing = nodes.filter(({ knows }) => knows);
  if (knowing.length === 0)
    return [
      {
        code: 'TASK_UNKNOWN',
        message: 'No worker knows the task: its module is off, or the workers run another version',
      },
    ];
  const taking = knowing.filter(({ state, drains }) => state === 'running' && !drains);
  if (taking.length === 0) return [{ code: 'ALL_DRAINING', message: 'All workers are being drained' }];
  return [];
}

function limits(
  ctx: Context,
  { task, orgId }: JobRow,
  { tenantRunning, taskRunning, nodes }: JobSurroundings,
): Reason[] {
  const { tenantConcurrency, taskConcurrency } = ctx.services.config.workers;
  const count = Math.max(1, nodes.length);
  const reasons: Reason[] = [];
  const most = taskConcurrency[task];
  if (most !== undefined && taskRunning >= most * count) {
    const message = `${taskRunning} jobs of the task run, and a worker takes ${most} at once`;
    reasons.push({ code: 'TASK_LIMIT', message, details: { running: taskRunning, perWorker: most } });
  }
  if (orgId && tenantRunning >= tenantConcurrency * count) {
    const message = `${tenantRunning} jobs of the organization run, and a worker takes ${tenantConcurrency} of one at once`;
    reasons.push({ code: 'TENANT_LIMIT', message, details: { running: tenantRunning, perWorker: tenantConcurrency } });
  }
  return reasons;
}

function turn({ ahead, nodes }: JobSurroundings, held: boolean): Reason[] {
  const slots = nodes.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const busy = nodes.reduce((sum, { active }) => sum + active, 0);
  const details = { ahead, slots, busy };
  if (ahead > 0) return [{ code: 'BEHIND_OTHERS', message: `${ahead} jobs are ahead of it`, details }];
  if (slots > 0 && busy >= slots)
    return [{ code: 'WORKERS_BUSY', message: `All ${slots} slots of the workers are in use`, details }];
  return held ? [] : [{ code: 'NEXT', message: 'Nothing blocks it: a worker takes it within a second', details }];
}
