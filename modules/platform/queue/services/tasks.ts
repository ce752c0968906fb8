/** Every task of this installation with its figures, last error and pause state. */
import type { Context, PageQuery } from '#core';
import { listed } from './rows/listed.ts';
import { figuresOf, rates, type TaskFigures, times } from './watching/figures.ts';
import { minutesOf } from './watching/windows.ts';

interface Beside {
  task: string;
  ready: number;
  blocked: number;
  delayed: number;
  running: number;
  retrying: number;
  failed: number;
  stuck: number;
  oldestReadyAgeSec: number | null;
  lastError: { message: string; at: string } | null;
  pausedAt: string | null;
}
const POINTS = 60;
const none = (task: string): TaskFigures => ({
  task,
  started: 0,
  succeeded: 0,
  errored: 0,
  failed: 0,
  durations: [],
  waits: [],
});

export async function listTasks(ctx: Context, query: PageQuery & { window: string }): Promise<object> {
  const minutes = minutesOf(query.window);
  const known = ctx.services.tasks();
  const page = listed(known, query, 'tasks', ({ name }) => name);
  const names = page.data.map(({ name }) => name);
  const { rows } = await ctx.sql<Beside>(
    `select k.task, coalesce(s.ready, 0) as ready, coalesce(s.blocked, 0) as blocked, coalesce(s.delayed, 0) as delayed,
       coalesce(s.locked, 0) as running, coalesce(s.retrying, 0) as retrying, coalesce(s.failed, 0) as failed,
       coalesce(s.stuck, 0) as stuck, extract(epoch from now() - s.oldest_ready_at)::float8 as "oldestReadyAgeSec",
       (select json_build_object('message', coalesce(r.error_message, r.outcome), 'at', r.finished_at) from job_runs r
         where r.task = k.task and r.outcome <> 'success' order by r.finished_at desc limit 1) as "lastError",
       (select paused_at from paused_tasks p where p.task = k.task) as "pausedAt"
     from unnest($1::text[]) k(task)
     left join queue_snapshots s on s.task = k.task and s.at = (select max(at) from queue_snapshots)`,
    [names],
  );
  const beside = new Map(rows.map((row) => [row.task, row]));
  const figures = new Map((await figuresOf(ctx, minutes)).map((one) => [one.task, one]));
  const lines = await sparklines(ctx, minutes, names);
  return {
    ...page,
    data: page.data.map((task) => {
      const one = figures.get(task.name) ?? none(task.name);
      return {
        ...beside.get(task.name),
        task: task.name,
        module: task.module,
        summary: task.summary,
        scope: task.scope,
        ...rates(one, minutes),
        ...times(one),
        sparkline: lines.get(task.name) ?? new Array<number>(POINTS).fill(0),
      };
    }),
  };
}

/** Attempts in 60 equal parts of the window, oldest first. */
async function sparklines(ctx: Context, minutes: number, names: string[]): Promise<Map<string, number[]>> {
  const { rows } = await ctx.sql<{ task: string; point: number; started: number }>(
    `select task, least($2 - 1, floor(extract(epoch from minute - (now() - make_interval(mins => $1))) / ($1 * 60.0 / $2)))::int
       as point, sum(started)::int as started
     from job_stats_minute where minute > now() - make_interval(mins => $1) and task = any($3)
     group by 1, 2`,
    [minutes, POINTS, names],
  );
  const lines = new Map<string, number[]>();
  for (const { task, point, started } of rows) {
    const line = lines.get(task) ?? new Array<number>(POINTS).fill(0);
    line[Math.max(0, point)] = started;
    lines.set(task, line);
  }
  return lines;
}
