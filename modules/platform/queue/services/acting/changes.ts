/** Retrying a job, and cancelling one. Running jobs are left alone. */
import { type Context, errors } from '#core';
import { JobLocked } from '../../errors.ts';
import type { JobRow } from '../../models/shapes.ts';
import { mustExist } from '../rows/queue.ts';

const isHeld = ({ state }: JobRow) => state === 'running' || state === 'stuck';

/** Throws 404 for a job that does not exist, 409 `JOB_LOCKED` for one that runs. */
async function mustBeIdle(ctx: Context, id: number): Promise<JobRow> {
  const row = await mustExist(ctx, id);
  if (isHeld(row)) throw JobLocked(`The job is running on ${row.nodeId ?? 'a worker that no longer exists'}`);
  return row;
}

function record(ctx: Context, action: 'job.retry' | 'job.cancel', row: JobRow, details: object): void {
  ctx.audit(action, {
    orgId: row.orgId,
    resourceType: 'job',
    resourceName: row.task,
    details: { jobId: row.id, task: row.task, state: row.state, attempts: row.attempts, ...details },
  });
}

export interface Retry {
  runAt?: Date;
  resetAttempts: boolean;
}

/** Resets the attempts, or allows one more. */
export async function retryJob(ctx: Context, id: number, { runAt, resetAttempts }: Retry): Promise<JobRow> {
  const row = await mustBeIdle(ctx, id);
  const { rows } = await ctx.sql('select queue_retry($1, coalesce($2, now()), $3) as id', [
    [id],
    runAt ?? null,
    resetAttempts,
  ]);
  // A worker took it between the read and the change.
  if (rows.length === 0) throw JobLocked();
  record(ctx, 'job.retry', row, { resetAttempts, runAt: runAt?.toISOString() ?? null });
  return mustExist(ctx, id);
}

/** The job stays in the queue as cancelled, with the reason, until it is retried or deleted. */
export async function cancelJob(ctx: Context, id: number, reason: string): Promise<JobRow> {
  const row = await mustBeIdle(ctx, id);
  if (row.state === 'cancelled')
    throw errors.InvalidState({
      details: [{ current: row.state, allowed: ['ready', 'delayed', 'retrying', 'failed'] }],
    });
  const { rows } = await ctx.sql('select queue_cancel($1, $2) as id', [[id], reason]);
  if (rows.length === 0) throw JobLocked();
  record(ctx, 'job.cancel', row, { reason });
  return mustExist(ctx, id);
}
