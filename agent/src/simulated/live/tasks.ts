/** Invented scheduled tasks: they can be run, switched on and off. */
import type { TaskItem } from '#agent-protocol';
import { found, holds, hoursAgo, type LiveTool, pageOf, text } from './answers.ts';

export function taskTools(): Record<string, LiveTool> {
  const tasks = new Map(
    ['backup', 'cleanup', 'update-check'].map((name, n): [string, TaskItem] => [
      `/${name}`,
      {
        ...{ path: `/${name}`, name, folder: '/', state: 'ready', lastRunTime: hoursAgo(n + 1), lastRunResult: '0' },
        ...{ nextRunTime: hoursAgo(-24), author: 'root', description: `A simulated ${name}` },
        triggers: [{ type: 'daily', schedule: '0 3 * * *', enabled: true }],
        actions: [{ type: 'execute', command: `/usr/bin/${name}`, arguments: null }],
      },
    ]),
  );
  const of = (path: unknown) => found(tasks.get(text(path)), `task ${String(path)}`);
  const change = (state: TaskItem['state']): LiveTool => {
    return ({ path }) => {
      const task = of(path);
      const same = task.state === state;
      if (state === 'running') task.lastRunTime = new Date().toISOString();
      else task.state = state;
      return { path: task.path, ...(same ? { note: `The task was ${state} already` } : {}) };
    };
  };
  return {
    tasks_list: (payload) =>
      pageOf(
        [...tasks.values()].filter(({ name }) => holds(payload.search, name)),
        payload,
      ),
    task_get: ({ path }) => of(path),
    task_history({ path, limit }) {
      of(path);
      const runs = [1, 25, 49].map((hours) => ({
        startTime: hoursAgo(hours),
        endTime: hoursAgo(hours),
        result: '0',
        message: null,
      }));
      return { items: runs.slice(0, Number(limit) || runs.length) };
    },
    task_run: change('running'),
    task_enable: change('ready'),
    task_disable: change('disabled'),
  };
}
