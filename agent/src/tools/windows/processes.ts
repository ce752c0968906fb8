/** Processes of Windows: Win32_Process with its load, and taskkill. */

import type { ProcessDetail } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { familyOf } from '../../process/family.ts';
import { type Processes, ToolError } from '../contract.ts';
import { cut, MOST_COMMAND_LINE } from '../limits.ts';
import { pageOf } from '../paging.ts';
import { orderProcesses } from '../process-order.ts';
import { instantOf, numberOf, powershell, rows, textOf } from './powershell.ts';

const LIST = `
  $load = @{}
  try {
    Get-CimInstance -ClassName Win32_PerfFormattedData_PerfProc_Process |
      ForEach-Object { $load[[int]$_.IDProcess] = [long]$_.PercentProcessorTime }
  } catch { }
  Get-CimInstance -ClassName Win32_Process | ForEach-Object { @{
    pid = $_.ProcessId; name = $_.Name; parent = $_.ParentProcessId; threads = $_.ThreadCount
    memory = $_.WorkingSetSize; command = $_.CommandLine; start = (Stamp $_.CreationDate)
    load = $load[[int]$_.ProcessId]; cores = [Environment]::ProcessorCount
  } }
`;
/** One question a process, and so only for those that are shown. */
const OWNERS = `
  Get-CimInstance -ClassName Win32_Process | Where-Object { $asked.pids -contains $_.ProcessId } | ForEach-Object {
    $id = $_.ProcessId
    try {
      $owner = Invoke-CimMethod -InputObject $_ -MethodName GetOwner
      if ($owner.User) { @{ pid = $id; domain = $owner.Domain; user = $owner.User } }
    } catch { }
  }
`;

/** Without these Windows stops at once, with a blue screen or a logged-out session. */
const VITAL =
  /^(system|registry|smss|csrss|wininit|winlogon|services|lsass|secure system|memory compression)(\.exe)?$/i;
/** Exit codes of taskkill: its words are in the language of the system. */
const GONE = 128;

export function windowsProcesses(ask: Ask, ownPid = process.pid): Processes {
  const all = async (signal: AbortSignal): Promise<ProcessDetail[]> =>
    rows(await powershell(ask, LIST, { about: 'The list of processes', signal })).map(toProcess);
  const withOwners = async (list: ProcessDetail[], signal: AbortSignal): Promise<ProcessDetail[]> => {
    if (list.length === 0) return list;
    const asked = { pids: list.map(({ pid }) => pid) };
    const owners = new Map(
      rows(await powershell(ask, OWNERS, { about: 'The owners of processes', asked, signal })).map((row) => [
        row.pid,
        [textOf(row.domain), textOf(row.user)].filter(Boolean).join('\\'),
      ]),
    );
    return list.map((one) => ({ ...one, user: owners.get(one.pid) ?? null }));
  };
  return {
    async list(query, signal) {
      const list = await all(signal);
      // Who is looked for may be a user; else the owners of one page are enough.
      if (query.search) return pageOf(orderProcesses(await withOwners(list, signal), query), query);
      const { items, total } = pageOf(orderProcesses(list, query), query);
      return { items: await withOwners(items, signal), total };
    },
    async get(pid, signal) {
      const found = (await all(signal)).filter((one) => one.pid === pid);
      const [item] = await withOwners(found, signal);
      if (!item) throw gone(pid);
      return item;
    },
    async kill({ pid, force, expectedName, expectedStartTime }, signal) {
      if ([0, 1, 4].includes(pid)) throw new ToolError('PROTECTED', `Process ${pid} belongs to Windows itself`);
      const list = await all(signal);
      const target = list.find((one) => one.pid === pid);
      if (!target) throw gone(pid);
      if (familyOf(ownPid, list).has(pid)) throw new ToolError('PROTECTED', `Process ${pid} belongs to the agent`);
      if (VITAL.test(target.name)) throw new ToolError('PROTECTED', `Windows cannot live without ${target.name}`);
      if (expectedName !== undefined && expectedName.toLowerCase() !== target.name.toLowerCase()) {
        throw new ToolError('CONFLICT', `Process ${pid} is ${target.name} now`);
      }
      if (expectedStartTime !== undefined && instantOf(expectedStartTime) !== target.startTime) {
        throw new ToolError('CONFLICT', `Process ${pid} is another one now: it began at ${target.startTime}`);
      }
      const { code } = await ask('taskkill.exe', ['/PID', String(pid), ...(force ? ['/F'] : [])], { signal });
      if (code === GONE) throw gone(pid);
      if (code === 0) return;
      if (force) throw new ToolError('DENIED', `Windows did not let the agent end process ${pid} (exit code ${code})`);
      throw new ToolError('CONFLICT', `Process ${pid} does not end when asked to; use force (exit code ${code})`);
    },
  };
}

function gone(pid: number): ToolError {
  return new ToolError('NOT_FOUND', `There is no process ${pid}`);
}

/** Windows counts the load of a process in per cent of one processor, and the idle one as 0. */
function toProcess(row: Record<string, unknown>): ProcessDetail {
  const pid = Number(row.pid);
  const load = pid === 0 ? null : numberOf(row.load);
  const memory = numberOf(row.memory);
  const command = textOf(row.command);
  return {
    pid,
    name: textOf(row.name) ?? String(pid),
    cpuPercent: load === null ? null : Math.min(100, Math.round((100 * load) / Math.max(1, Number(row.cores))) / 100),
    memoryMb: memory === null ? null : Math.round((100 * memory) / 1024 ** 2) / 100,
    user: null,
    status: 'running',
    commandLine: command && cut(command, MOST_COMMAND_LINE),
    parentPid: numberOf(row.parent),
    threads: numberOf(row.threads),
    startTime: instantOf(row.start),
  };
}
