/** Ends one process of a Linux machine, and only the one that was meant. */
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { type Processes, ToolError } from '../../contract.ts';
import { type ProcStat, parseBootTime, parseProcStat, TICKS } from './proc-stat.ts';

/** The machine itself, on whatever system: the idle process, init, and what Windows calls System. */
const UNTOUCHABLE = new Set([0, 1, 4]);
/** The kernel's thread that starts all others of its kind; signals do nothing to them. */
const KERNEL = 2;
/** The clock of a machine may be set right between the list and the kill. */
const CLOCK_MS = 1_000;
const STEP_MS = 50;
/** How long a process may take to end before that is reported as a failure. */
const ENDING_MS = 10_000;

/** Returns when the process is gone. Throws NOT_FOUND, PROTECTED, CONFLICT (another process has the number), DENIED. */
export const endProcess: Processes['kill'] = async (target, signal) => {
  const { pid, force, expectedName, expectedStartTime } = target;
  if (UNTOUCHABLE.has(pid)) throw new ToolError('PROTECTED', `process ${pid} belongs to the system`);
  const stat = await statOf(pid);
  if (!stat || stat.state === 'Z' || stat.state === 'X') throw new ToolError('NOT_FOUND', `there is no process ${pid}`);
  if (pid === KERNEL || stat.parentPid === KERNEL) throw new ToolError('PROTECTED', `${pid} is a thread of the kernel`);
  if (await isOwnTree(pid)) throw new ToolError('PROTECTED', 'the agent does not end itself');
  if (expectedName !== undefined && expectedName !== stat.name)
    throw new ToolError('CONFLICT', `process ${pid} is "${stat.name}" by now`);
  if (expectedStartTime !== undefined && !(await startedAt(stat, expectedStartTime)))
    throw new ToolError('CONFLICT', `process ${pid} is another one by now`);
  const word = force ? 'SIGKILL' : 'SIGTERM';
  try {
    process.kill(pid, word);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'EPERM')
      throw new ToolError('DENIED', `the agent may not end process ${pid}`);
    return;
  }
  const deadline = performance.now() + ENDING_MS;
  while (await lives(pid, stat)) {
    if (performance.now() > deadline)
      throw new Error(`process ${pid} still runs ${ENDING_MS / 1000} s after ${word}${force ? '' : '; force ends it'}`);
    await wait(STEP_MS, undefined, { signal });
  }
};

async function statOf(pid: number): Promise<ProcStat | undefined> {
  return parseProcStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
}

/** A zombie has ended: only its parent has not asked how. */
async function lives(pid: number, { startTicks }: ProcStat): Promise<boolean> {
  const now = await statOf(pid);
  return now !== undefined && now.startTicks === startTicks && now.state !== 'Z' && now.state !== 'X';
}

async function startedAt({ startTicks }: ProcStat, expected: string): Promise<boolean> {
  const boot = parseBootTime(await readFile('/proc/stat', 'utf8')) ?? Date.now() - os.uptime() * 1000;
  return Math.abs(boot + (startTicks * 1000) / TICKS - Date.parse(expected)) <= CLOCK_MS;
}

/** The agent, what started it (a watchdog, a service manager) and what it started. */
async function isOwnTree(pid: number): Promise<boolean> {
  return (await isAbove(pid, process.pid)) || (await isAbove(process.pid, pid));
}

/** Whether `ancestor` is `pid` or a parent of it, however far up. */
async function isAbove(ancestor: number, pid: number): Promise<boolean> {
  for (let at = pid; at > 1; at = (await statOf(at))?.parentPid ?? 0) if (at === ancestor) return true;
  return false;
}
