/** Schedules: last and next run, lateness, and starting one manually. */
import { type Context, errors, momentsAround, type PageQuery, type TaskInfo } from '#core';
import { listed } from './rows/listed.ts';

export interface ScheduleRow {
  identifier: string;
  schedule: string;
  module: string;
  summary: string;
  scope: TaskInfo['scope'];
  lastExpected: Date | null;
  lastRun: Date | null;
  lastOutcome: string | null;
  lastDurationMs: number | null;
  nextRun: Date | null;
  /** Seconds since the first missed time. */
  latenessSec: number;
  periodSec: number | null;
  enabled: boolean;
}
interface Status {
  identifier: string;
  lastExpected: Date | null;
  lastRun: Date | null;
  lastOutcome: string | null;
  lastDurationMs: number | null;
  paused: boolean;
}

const scheduled = (ctx: Context) => ctx.services.tasks().filter(({ schedule }) => schedule !== null);

export async function listSchedules(ctx: Context, query: PageQuery): Promise<object> {
  const page = listed(scheduled(ctx), query, 'schedules', ({ name }) => name);
  return { ...page, data: await describe(ctx, page.data) };
}

export const allSchedules = (ctx: Context): Promise<ScheduleRow[]> => describe(ctx, scheduled(ctx));

async function describe(ctx: Context, tasks: readonly TaskInfo[]): Promise<ScheduleRow[]> {
  const { rows } = await ctx.sql<Status>(
    `select k.name as identifier, c.last_expected as "lastExpected", c.last_run as "lastRun",
       c.last_outcome as "lastOutcome", c.last_duration_ms as "lastDurationMs",
       exists (select from paused_tasks p where p.task = k.name) as paused
     from unnest($1::text[]) k(name) left join cron_status c on c.identifier = k.name order by 1`,
    [tasks.map(({ name }) => name)],
  );
  const statuses = new Map(rows.map((row) => [row.identifier, row]));
  const now = new Date();
  return tasks.flatMap((task) => {
    const status = statuses.get(task.name);
    if (!task.schedule || !status) return [];
    const { schedule } = task;
    const around = momentsAround(schedule, now);
    const { paused, ...shown } = status;
    // A tenant's schedule is done when its jobs are queued: there may be no organization to run for.
    const kept = task.scope === 'tenant' ? status.lastExpected : status.lastRun;
    const missed = kept && !paused ? momentsAround(schedule, kept).next : null;
    return [
      {
        ...shown,
        schedule: 'cron' in schedule ? schedule.cron : `every ${schedule.every} s`,
        module: task.module,
        summary: task.summary,
        scope: task.scope,
        nextRun: paused ? null : around.next,
        latenessSec: missed && missed < now ? Math.round((now.getTime() - missed.getTime()) / 1000) : 0,
        periodSec: around.next && around.last ? (around.next.getTime() - around.last.getTime()) / 1000 : null,
        enabled: !paused,
      },
    ];
  });
}

/** As if it were due: a tenant's schedule fans out. Throws 404, and 409 while it is paused. */
export async function runSchedule(ctx: Context, identifier: string): Promise<object> {
  const [schedule] = await describe(
    ctx,
    scheduled(ctx).filter(({ name }) => name === identifier),
  );
  if (!schedule) throw errors.NotFound(`There is no schedule ${identifier}`);
  if (!schedule.enabled)
    throw errors.InvalidState({
      message: 'The task is paused',
      details: [{ current: 'paused', allowed: ['enabled'] }],
    });
  const { rows } = await ctx.sql<{ id: number }>('select queue_start($1) as id', [identifier]);
  const jobId = rows[0]?.id;
  ctx.audit('job.cron.run', { resourceType: 'job', resourceName: identifier, details: { identifier, jobId } });
  return { id: jobId, task: 'core/start', starts: identifier };
}
