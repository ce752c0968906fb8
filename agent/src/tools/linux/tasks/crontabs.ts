/** The tables of cron as scheduled tasks, to be read only. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TaskItem, TaskRun } from '#agent-protocol';
import { textOf } from '../../../collect/system-events.ts';
import type { Ask } from '../ask.ts';
import { readJournal } from '../event-logs/journal.ts';
import { timeOfEntry } from '../event-logs/journal-entry.ts';

/** The users' tables: Debian, then Red Hat and Alpine. */
const USERS = ['var/spool/cron/crontabs', 'var/spool/cron', 'etc/crontabs'];
const MOST_BYTES = 1024 * 1024;
/** Entries of cron among which the runs of one line are looked for. */
const HISTORY_ENTRIES = 5_000;

/** All lines of all tables below `root`; those that the agent may not read are left out. */
export async function cronTasks(root: string): Promise<TaskItem[]> {
  const tasks: TaskItem[] = [];
  const add = async (file: string, user: string | undefined): Promise<void> => {
    const text = await readFile(join(root, file), 'utf8').catch(() => '');
    if (text.length <= MOST_BYTES) tasks.push(...parseCrontab(text, `/${file}`, user));
  };
  await add('etc/crontab', undefined);
  // cron itself reads no others there: leftovers of packages and editors have a dot or a tilde.
  for (const name of await names(root, 'etc/cron.d'))
    if (/^[\w-]+$/.test(name)) await add(`etc/cron.d/${name}`, undefined);
  for (const folder of USERS)
    for (const name of await names(root, folder)) if (/^[\w][\w.@-]*$/.test(name)) await add(`${folder}/${name}`, name);
  return tasks;
}

async function names(root: string, folder: string): Promise<string[]> {
  return (await readdir(join(root, folder)).catch(() => [])).sort();
}

/** Tasks of one table. In the tables of the system (`user` undefined) each line names its user. */
export function parseCrontab(text: string, file: string, user: string | undefined): TaskItem[] {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || /^[A-Za-z_]\w*\s*=/.test(line)) return [];
    const [, schedule, rest] = /^(@\w+|(?:[^\s]+\s+){4}[^\s]+)\s+(.+)$/.exec(line) ?? [];
    if (!schedule || !rest) return [];
    const [, named, command] = user === undefined ? (/^(\S+)\s+(.+)$/.exec(rest) ?? []) : [rest, user, rest];
    if (!named || !command) return [];
    const [program = '', ...words] = command.split(/\s+/);
    return {
      path: `/cron${file}#${index + 1}`,
      name: basename(program),
      folder: `/cron${file}`,
      state: 'ready' as const,
      lastRunTime: null,
      lastRunResult: null,
      nextRunTime: null,
      triggers: [{ type: 'cron', schedule: schedule.replace(/\s+/g, ' '), enabled: true }],
      actions: [{ type: 'exec', command: program.slice(0, 1_000), arguments: words.join(' ').slice(0, 1_000) || null }],
      author: named,
      description: null,
    };
  });
}

/** When cron began a line, newest first: `(user) CMD (command)` is all that it writes, how it ended it does not say. */
export async function cronHistory(task: TaskItem, limit: number, ask: Ask, signal: AbortSignal): Promise<TaskRun[]> {
  const names = ['--identifier=CRON', '--identifier=cron', '--identifier=crond'];
  const entries = await readJournal(['--reverse', `--lines=${HISTORY_ENTRIES}`, ...names], ask, signal);
  const { command = '', arguments: words = null } = task.actions[0] ?? {};
  const wanted = `(${task.author}) CMD (${[command, words].filter(Boolean).join(' ')})`;
  return entries
    .filter((entry) => textOf(entry.MESSAGE)?.replace(/\s+/g, ' ').replace(/ \)$/, ')') === wanted)
    .slice(0, limit)
    .map((entry) => ({ startTime: timeOfEntry(entry) ?? null, endTime: null, result: null, message: wanted }));
}
