/** The processes of a Linux machine, read from /proc. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import os from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { ProcessItem } from '#agent-protocol';
import { type Processes, type ProcessQuery, ToolError } from '../../contract.ts';
import { matches, pageOf } from '../../paging.ts';
import type { Ask } from '../ask.ts';
import { endProcess } from './kill.ts';
import { parseBootTime, parsePasswd, parseProcStat, parseProcStatus, statusOf, TICKS } from './proc-stat.ts';

/** Between the two readings from which the load of each process follows. */
const SAMPLE_MS = 250;
const COMMAND_LINE = 1_000;
const OPEN_FILES = 1_000;
/** Files read at the same time: more would hold all of the agent's threads. */
const AT_ONCE = 32;

export function linuxProcesses(ask: Ask): Processes {
  return {
    async list(query, signal) {
      const found = await observe(await pids(), ask, signal);
      const wanted = found.filter((item) =>
        matches(query.search, item.name, item.commandLine, item.user, String(item.pid)),
      );
      return pageOf(wanted.sort(order(query)), query);
    },
    async get(pid, signal) {
      const [item] = await observe([pid], ask, signal);
      if (!item) throw new ToolError('NOT_FOUND', `there is no process ${pid}`);
      const files = await openFiles(pid);
      return { ...item, ...(files && { openFiles: files }) };
    },
    kill: endProcess,
  };
}

async function pids(): Promise<number[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** The processes with their load over a quarter of a second; those that end meanwhile are left out. */
async function observe(list: readonly number[], ask: Ask, signal: AbortSignal): Promise<ProcessItem[]> {
  const before = new Map((await each(list, busyOf)).map((sample) => [sample.pid, sample]));
  await wait(SAMPLE_MS, undefined, { signal });
  const boot = parseBootTime(await textOf('/proc/stat')) ?? Date.now() - os.uptime() * 1000;
  const items = await each(list, async (pid) => {
    const after = await busyOf(pid);
    if (!after) return undefined;
    const { memoryMb, uid } = parseProcStatus(await textOf(`/proc/${pid}/status`));
    const commandLine = (await textOf(`/proc/${pid}/cmdline`)).replaceAll('\0', ' ').trim();
    const first = before.get(pid);
    const same = first?.startTicks === after.startTicks ? first : undefined;
    const item: ProcessItem = {
      pid,
      name: after.name,
      cpuPercent: same ? percent(after.busyTicks - same.busyTicks, after.at - same.at) : null,
      memoryMb,
      user: uid === null ? null : String(uid),
      status: statusOf(after.state),
      commandLine: commandLine === '' ? null : commandLine.slice(0, COMMAND_LINE),
      parentPid: after.parentPid,
      threads: after.threads,
      startTime: new Date(boot + (after.startTicks * 1000) / TICKS).toISOString(),
    };
    return item;
  });
  return named(items, ask, signal);
}

async function busyOf(pid: number) {
  const stat = parseProcStat(await textOf(`/proc/${pid}/stat`));
  return stat && stat.state !== 'X' ? { ...stat, pid, at: performance.now() } : undefined;
}

/** Share of all processors together, 0 to 100. */
function percent(ticks: number, ms: number): number {
  const possible = (Math.max(1, ms) / 1000) * TICKS * os.availableParallelism();
  return Math.min(100, Math.max(0, Math.round((1000 * ticks) / possible) / 10));
}

/** Puts names in the place of user numbers; users of a directory service are asked for with getent. */
async function named(items: ProcessItem[], ask: Ask, signal: AbortSignal): Promise<ProcessItem[]> {
  const names = parsePasswd(await textOf('/etc/passwd'));
  const unknown = new Set(items.flatMap(({ user }) => (user !== null && !names.has(Number(user)) ? [user] : [])));
  if (unknown.size > 0) {
    const { stdout } = await ask('getent', ['passwd', ...unknown], { signal }).catch(() => ({ stdout: '' }));
    for (const [uid, name] of parsePasswd(stdout)) names.set(uid, name);
  }
  return items.map((item) => ({ ...item, user: names.get(Number(item.user)) ?? item.user }));
}

function order({ sort, sortDir }: ProcessQuery): (a: ProcessItem, b: ProcessItem) => number {
  const sign = sortDir === 'desc' ? -1 : 1;
  const by = (item: ProcessItem): number => {
    if (sort === 'pid') return item.pid;
    return (sort === 'cpu' ? item.cpuPercent : item.memoryMb) ?? 0;
  };
  const compare = (a: ProcessItem, b: ProcessItem): number =>
    sort === 'name' ? a.name.localeCompare(b.name, 'en') : by(a) - by(b);
  return (a, b) => sign * compare(a, b) || a.pid - b.pid;
}

/** Undefined where the agent may not look. */
async function openFiles(pid: number): Promise<string[] | undefined> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => undefined);
  if (!names) return undefined;
  const targets = await each(names, (name) => readlink(`${folder}/${name}`).catch(() => undefined));
  return [...new Set(targets.filter((target) => target.startsWith('/')))].slice(0, OPEN_FILES);
}

/** What `read` gives for each, a few at a time, without those for which it gives nothing. */
async function each<A, B>(list: readonly A[], read: (item: A) => Promise<B | undefined>): Promise<B[]> {
  const found: B[] = [];
  for (let at = 0; at < list.length; at += AT_ONCE) {
    for (const value of await Promise.all(list.slice(at, at + AT_ONCE).map(read))) {
      if (value !== undefined) found.push(value);
    }
  }
  return found;
}

/** Empty when the process has ended, or is another user's and this file a secret. */
function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
