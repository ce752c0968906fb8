/** Services of Windows: Win32_Service tells of them, sc.exe changes them. */

import type { ServiceChange, ServiceDetail } from '#agent-protocol';
import { type Ask, pause } from '../../process/ask.ts';
import { type Services, ToolError } from '../contract.ts';
import { matches, pageOf } from '../paging.ts';
import { numberOf, type PowershellObject, powershell, rows, textOf } from './powershell.ts';

const LIST = `
  $root = 'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\'
  Get-CimInstance -ClassName Win32_Service | Where-Object { -not $asked.name -or $_.Name -eq $asked.name } |
    ForEach-Object { @{
      name = $_.Name; title = $_.DisplayName; state = $_.State; mode = $_.StartMode; delayed = $_.DelayedAutoStart
      account = $_.StartName; description = $_.Description; path = $_.PathName; pid = $_.ProcessId
      needs = @([Microsoft.Win32.Registry]::GetValue($root + $_.Name, 'DependOnService', $null))
    } }
`;
/** Those that run and need the service, directly or through others, in the order in which they must stop. */
const DEPENDENTS = `
  (Get-Service -Name $asked.name).DependentServices | Where-Object { $_.Status -ne 'Stopped' } |
    ForEach-Object { @{ name = $_.Name } }
`;

/** The numbers of Windows that sc.exe ends with; its words are in the language of the system. */
const CODE = {
  denied: 5,
  badName: 123,
  dependents: 1051,
  noAnswer: 1053,
  already: 1056,
  disabled: 1058,
  unknown: 1060,
  notNow: 1061,
  notRunning: 1062,
  dependencyFailed: 1068,
};
const STATES: ServiceDetail['status'][] = [
  'unknown',
  'stopped',
  'starting',
  'stopping',
  'running',
  'starting',
  'stopping',
  'paused',
];
const NAME = /^[\w .@:$-]{1,256}$/;
const STEP_MS = 200;
const RESCUE_MS = 20_000;

/** `own` are the pids of the agent: the service behind one of them is not stopped. */
export function windowsServices(ask: Ask, own: readonly number[] = [process.pid, process.ppid]): Services {
  return {
    async list(query, signal) {
      const all = (await readServices(ask, undefined, signal)).map(toService);
      const found = all.filter(
        ({ name, displayName, status }) =>
          matches(query.search, name, displayName) && (query.status ?? status) === status,
      );
      return pageOf(
        found.sort((a, b) => a.name.localeCompare(b.name, 'en')),
        query,
      );
    },
    get: async (name, signal) => toService(await findService(ask, name, signal)),
    async change(name, verb, signal) {
      const row = await findService(ask, name, signal);
      if (verb !== 'start') refuseOwn(row, own);
      // As Windows writes it, not as the caller did.
      const known = String(row.name);
      if (verb === 'start') return start(ask, known, signal);
      return verb === 'stop' ? stop(ask, known, signal) : restart(ask, known, own, signal);
    },
  };
}

/** The service of this name, or every service. */
async function readServices(ask: Ask, name: string | undefined, signal: AbortSignal): Promise<PowershellObject[]> {
  return rows(await powershell(ask, LIST, { about: name ?? 'The list of services', asked: { name }, signal }));
}

async function findService(ask: Ask, name: string, signal: AbortSignal): Promise<PowershellObject> {
  if (!NAME.test(name)) throw new ToolError('INVALID', 'This is no name of a service');
  const [row] = await readServices(ask, name, signal);
  if (!row) throw new ToolError('NOT_FOUND', `There is no service ${name}`);
  return row;
}

/** Waits until the service is neither starting nor stopping, and returns its status. */
async function settled(ask: Ask, name: string, signal: AbortSignal): Promise<ServiceDetail['status']> {
  for (;;) {
    const { code, stdout } = await ask('sc.exe', ['query', name], { signal });
    if (code !== 0) throw serviceError(name, code);
    const state = parseState(stdout);
    if (state !== 'starting' && state !== 'stopping') return state;
    await pause(STEP_MS, signal);
  }
}

async function start(ask: Ask, name: string, signal: AbortSignal): Promise<ServiceChange> {
  const { code } = await ask('sc.exe', ['start', name], { signal });
  if (code === CODE.already) return { name, status: 'running', note: 'The service ran already' };
  if (code !== 0) throw serviceError(name, code);
  const status = await settled(ask, name, signal);
  return { name, status, ...(status === 'stopped' && { note: 'The service started and stopped by itself' }) };
}

async function stop(ask: Ask, name: string, signal: AbortSignal): Promise<ServiceChange> {
  const { code } = await ask('sc.exe', ['stop', name], { signal });
  if (code === CODE.notRunning) return { name, status: 'stopped', note: 'The service was stopped already' };
  if (code !== 0) throw serviceError(name, code);
  return { name, status: await settled(ask, name, signal) };
}

async function restart(ask: Ask, name: string, own: readonly number[], signal: AbortSignal): Promise<ServiceChange> {
  const dependents = await dependentsOf(ask, name, signal);
  for (const other of dependents) refuseOwn(await findService(ask, other, signal), own);
  const stopped: string[] = [];
  const failures: unknown[] = [];
  try {
    for (const other of [...dependents, name]) {
      await stop(ask, other, signal);
      stopped.unshift(other);
    }
  } catch (fault) {
    failures.push(fault);
  }
  // The services that were stopped start again even if another one failed and if the caller's time is over.
  const rescue = signal.aborted ? AbortSignal.timeout(RESCUE_MS) : signal;
  const started: ServiceChange[] = [];
  for (const other of stopped) {
    try {
      started.push(await start(ask, other, rescue));
    } catch (fault) {
      failures.push(fault);
    }
  }
  if (failures.length > 0) throw failures[0];
  const { status } = started.find((one) => one.name === name) ?? { status: 'unknown' };
  return { name, status, ...(dependents.length > 0 && { restarted: dependents }) };
}

async function dependentsOf(ask: Ask, name: string, signal: AbortSignal): Promise<string[]> {
  return rows(await powershell(ask, DEPENDENTS, { about: name, asked: { name }, signal })).map((row) =>
    String(row.name),
  );
}

/** The state in what `sc.exe query` prints: the third row that has a number; the words beside it may be translated. */
export function parseState(text: string): ServiceDetail['status'] {
  const numbers = [...text.matchAll(/^[ \t]+\S.*?:[ \t]*([0-9a-f]+)[ \t]+[A-Z_]+/gm)];
  return STATES[Number(numbers[1]?.[1])] ?? 'unknown';
}

function refuseOwn(row: PowershellObject, own: readonly number[]): void {
  const pid = numberOf(row.pid);
  if (pid && own.includes(pid)) throw new ToolError('PROTECTED', `${String(row.name)} is the service of the agent`);
}

function serviceError(name: string, code: number): Error {
  switch (code) {
    case CODE.unknown:
      return new ToolError('NOT_FOUND', `There is no service ${name}`);
    case CODE.denied:
      return new ToolError('DENIED', `Windows does not let the agent change ${name}`);
    case CODE.badName:
      return new ToolError('INVALID', 'This is no name of a service');
    case CODE.disabled:
      return new ToolError('CONFLICT', `${name} is disabled`);
    case CODE.dependents:
      return new ToolError('CONFLICT', `Services that run need ${name}; a restart stops and starts them too`);
    case CODE.notNow:
      return new ToolError('CONFLICT', `${name} takes no such order at this time`);
    case CODE.noAnswer:
      return new ToolError('TIMEOUT', `${name} did not answer Windows in time`);
    case CODE.dependencyFailed:
      return new ToolError('CONFLICT', `A service that ${name} needs did not start`);
    default:
      return new Error(`sc.exe failed on ${name} with Windows error ${code}.`);
  }
}

function toService(row: PowershellObject): ServiceDetail {
  const needs = Array.isArray(row.needs) ? row.needs : [];
  return {
    name: String(row.name),
    displayName: textOf(row.title),
    status: statusOf(String(row.state)),
    startType: startOf(String(row.mode), row.delayed === true),
    account: textOf(row.account),
    description: textOf(row.description),
    path: textOf(row.path),
    dependencies: needs.filter((one): one is string => typeof one === 'string' && one !== ''),
  };
}

/** The words of WMI, which are English on every Windows. */
export function statusOf(word: string): ServiceDetail['status'] {
  const states: Record<string, ServiceDetail['status']> = {
    Running: 'running',
    Stopped: 'stopped',
    Paused: 'paused',
    'Start Pending': 'starting',
    'Stop Pending': 'stopping',
    'Continue Pending': 'starting',
    'Pause Pending': 'stopping',
  };
  return states[word] ?? 'unknown';
}

/** Drivers that the boot loader or the kernel starts count as automatic. */
export function startOf(mode: string, delayed: boolean): 'auto' | 'manual' | 'disabled' | 'auto_delayed' {
  if (mode === 'Auto' || mode === 'Boot' || mode === 'System') return delayed ? 'auto_delayed' : 'auto';
  return mode === 'Disabled' ? 'disabled' : 'manual';
}
