/** The scheduled tasks of a Linux machine: systemd's timers and the tables of cron. */
import type { TaskItem } from '#agent-protocol';
import { type Tasks, ToolError } from '../../contract.ts';
import { matches, pageOf } from '../../paging.ts';
import type { Ask } from '../ask.ts';
import { hasJournal } from '../event-logs/event-logs.ts';
import { systemdRuns } from '../services/services.ts';
import { cronHistory, cronTasks } from './crontabs.ts';
import { changeTimer, timerHistory, timerTask, timerTasks } from './timers.ts';

const TIMER = /^\/systemd\/([\w.@:$\\-]+\.timer)$/;

export function linuxTasks(ask: Ask, root = '/'): Tasks {
  const timerOf = async (path: string): Promise<string | undefined> => {
    const name = TIMER.exec(path)?.[1];
    if (name && !(await systemdRuns(root))) throw new ToolError('NOT_FOUND', `there is no task ${path}`);
    return name;
  };
  const cronTask = async (path: string): Promise<TaskItem> => {
    const found = (await cronTasks(root)).find((task) => task.path === path);
    if (!found) throw new ToolError('NOT_FOUND', `there is no task ${path}`);
    return found;
  };
  return {
    async list(query, signal) {
      const timers = (await systemdRuns(root)) ? await timerTasks(ask, signal) : [];
      const tasks = [...timers, ...(await cronTasks(root))].filter(
        (task) =>
          lies(task.folder, query.folder) &&
          matches(query.search, task.path, task.description, task.actions[0]?.command, task.actions[0]?.arguments),
      );
      return pageOf(
        tasks.sort((a, b) => (a.path < b.path ? -1 : 1)),
        query,
      );
    },
    async get(path, signal) {
      const timer = await timerOf(path);
      return timer ? timerTask(timer, ask, signal) : cronTask(path);
    },
    async history(path, limit, signal) {
      const timer = await timerOf(path);
      const task = timer ? await timerTask(timer, ask, signal) : await cronTask(path);
      if (!(await hasJournal(root))) throw new ToolError('UNSUPPORTED', 'this machine keeps no journal of its tasks');
      return timer ? timerHistory(timer, limit, ask, signal) : cronHistory(task, limit, ask, signal);
    },
    async change(path, verb, signal) {
      const timer = await timerOf(path);
      if (timer) return changeTimer(timer, verb, ask, signal);
      await cronTask(path);
      throw new ToolError('UNSUPPORTED', 'lines of cron can only be read');
    },
  };
}

/** Whether a task lies in a folder or below it; the root is written as on Windows or as here. */
function lies(folder: string, wanted: string): boolean {
  const clean = `/${wanted.replaceAll('\\', '/').split('/').filter(Boolean).join('/')}`;
  return clean === '/' || folder === clean || folder.startsWith(`${clean}/`);
}
