/** Processes of macOS: ps, lsof and kill. */
import os from 'node:os';
import type { ProcessDetail } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { familyOf } from '../../process/family.ts';
import { type Processes, ToolError } from '../contract.ts';
import { pageOf } from '../paging.ts';
import { orderProcesses } from '../process-order.ts';
import { PS, PS_ARGS, PS_LIST, parseLsof, parsePs, parseThreads } from './ps.ts';

const MOST_FILES = 500;
/** Without these the machine or the session of its user stops at once. */
const VITAL = /^(launchd|kernel_task|WindowServer|loginwindow)$/;

export function macosProcesses(ask: Ask, ownPid = process.pid, cores = os.cpus().length): Processes {
  const all = async (signal: AbortSignal): Promise<ProcessDetail[]> => {
    const list = await ask(PS, PS_LIST, { signal });
    if (list.code !== 0) throw new Error(`ps failed: ${list.stderr.trim()}`);
    return parsePs(list.stdout, (await ask(PS, PS_ARGS, { signal })).stdout, cores);
  };
  return {
    list: async (query, signal) => pageOf(orderProcesses(await all(signal), query), query),
    async get(pid, signal) {
      const found = (await all(signal)).find((one) => one.pid === pid);
      if (!found) throw gone(pid);
      const threads = await ask('/bin/ps', ['-M', '-p', String(pid)], { signal });
      // lsof ends with 1 when there was something it could not read, and prints the rest.
      const open = await ask('/usr/sbin/lsof', ['-n', '-P', '-w', '-p', String(pid), '-F', 'fn'], { signal });
      return { ...found, threads: parseThreads(threads.stdout), openFiles: parseLsof(open.stdout, MOST_FILES) };
    },
    async kill({ pid, force, expectedName, expectedStartTime }, signal) {
      if ([0, 1, 4].includes(pid)) throw new ToolError('PROTECTED', `Process ${pid} belongs to macOS itself`);
      const list = await all(signal);
      const target = list.find((one) => one.pid === pid);
      if (!target) throw gone(pid);
      if (familyOf(ownPid, list).has(pid)) throw new ToolError('PROTECTED', `Process ${pid} belongs to the agent`);
      if (VITAL.test(target.name)) throw new ToolError('PROTECTED', `macOS cannot live without ${target.name}`);
      if (expectedName !== undefined && expectedName !== target.name) {
        throw new ToolError('CONFLICT', `Process ${pid} is ${target.name} now`);
      }
      if (expectedStartTime !== undefined && Date.parse(expectedStartTime) !== Date.parse(target.startTime ?? '')) {
        throw new ToolError('CONFLICT', `Process ${pid} is another one now: it began at ${target.startTime}`);
      }
      const { code, stderr } = await ask('/bin/kill', [force ? '-KILL' : '-TERM', String(pid)], { signal });
      if (code === 0) return;
      if (/no such process/i.test(stderr)) throw gone(pid);
      throw new ToolError('DENIED', `macOS did not let the agent end process ${pid}`);
    },
  };
}

function gone(pid: number): ToolError {
  return new ToolError('NOT_FOUND', `There is no process ${pid}`);
}
