/** Ends a process and everything it started. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Name of the variable that marks all descendants of one command, whatever session or parent they moved to. */
export const MARK = 'QUARTERMASTER_COMMAND';

const STEP_MS = 50;

/**
 * SIGTERM to the whole tree, SIGKILL after `graceMs` to what is left (taskkill on Windows).
 * `pid` leads a process group of its own; `mark` is the value of MARK in its environment.
 */
export async function killTree(pid: number, mark: string, graceMs: number): Promise<void> {
  if (process.platform === 'win32') {
    await promisify(execFile)('taskkill', ['/pid', String(pid), '/T', '/F']).catch(() => undefined);
    return;
  }
  const deadline = Date.now() + graceMs;
  await signalTree(pid, mark, 'SIGTERM');
  while (Date.now() < deadline) {
    await wait(STEP_MS);
    if (!(await isTreeAlive(pid, mark))) return;
  }
  await signalTree(pid, mark, 'SIGKILL');
}

async function signalTree(pid: number, mark: string, signal: NodeJS.Signals): Promise<void> {
  send(-pid, signal);
  for (const member of await linuxMembers(pid, mark)) send(member, signal);
}

async function isTreeAlive(pid: number, mark: string): Promise<boolean> {
  if (process.platform !== 'linux') return send(-pid, 0);
  return (await linuxMembers(pid, mark)).length > 0;
}

/** Whether a process of a command lives; undefined where the system does not show the environment of processes. */
export async function isMarkAlive(mark: string): Promise<boolean | undefined> {
  return process.platform === 'linux' ? (await linuxMembers(-1, mark)).length > 0 : undefined;
}

/** Living processes of the group or with the mark. Zombies are left out: their parents may never reap them. */
async function linuxMembers(group: number, mark: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const members: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const [state, , groupOf] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (!state || state === 'Z' || state === 'X') continue;
    const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '');
    if (Number(groupOf) === group || environment.split('\0').includes(`${MARK}=${mark}`)) members.push(Number(name));
  }
  return members;
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
