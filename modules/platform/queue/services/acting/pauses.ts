/** Pausing a task: no node starts its jobs until it is resumed; running jobs finish. */
import { type Context, errors } from '#core';

export interface Pause {
  task: string;
  paused: boolean;
  pausedAt: Date | null;
  reason: string | null;
}

function mustBeKnown(ctx: Context, task: string): void {
  if (!ctx.services.tasks().some(({ name }) => name === task)) throw errors.NotFound(`There is no task ${task}`);
}

/** Pausing a paused task changes nothing. Throws 404 for an unknown task. */
export async function pauseTask(ctx: Context, task: string, reason: string | undefined): Promise<Pause> {
  mustBeKnown(ctx, task);
  const { rows } = await ctx.sql(
    `insert into paused_tasks (task, paused_by, reason) values ($1, $2, $3) on conflict do nothing returning task`,
    [task, ctx.actor.id, reason ?? null],
  );
  if (rows.length === 0) ctx.unchanged();
  else ctx.audit('job.task.pause', { resourceType: 'task', resourceName: task, details: { task, reason } });
  const { rows: now } = await ctx.sql<Pause>(
    `select task, true as paused, paused_at as "pausedAt", reason from paused_tasks where task = $1`,
    [task],
  );
  if (!now[0]) throw errors.InvalidState('The task was resumed at the same time');
  return now[0];
}

/** Jobs that were deferred meanwhile return within a minute. */
export async function resumeTask(ctx: Context, task: string): Promise<Pause> {
  mustBeKnown(ctx, task);
  const { rows } = await ctx.sql('delete from paused_tasks where task = $1 returning task', [task]);
  if (rows.length === 0) ctx.unchanged();
  else ctx.audit('job.task.resume', { resourceType: 'task', resourceName: task, details: { task } });
  return { task, paused: false, pausedAt: null, reason: null };
}
