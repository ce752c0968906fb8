/** systemd's timers as scheduled tasks. */
import os from 'node:os';
import type { TaskItem, TaskRun } from '#agent-protocol';
import { systemdState } from '../../../collect/services.ts';
import { textOf } from '../../../collect/system-events.ts';
import { ToolError } from '../../contract.ts';
import type { Ask } from '../ask.ts';
import { readJournal } from '../event-logs/journal.ts';
import { type JournalEntry, timeOfEntry } from '../event-logs/journal-entry.ts';
import { changeUnit, commandOf, showUnits, timeOf, type Unit, unitNames } from '../units.ts';

const TIMER = [
  'Id',
  'Description',
  'LoadState',
  'ActiveState',
  'UnitFileState',
  'Unit',
  'TimersCalendar',
  'TimersMonotonic',
  'NextElapseUSecRealtime',
  'NextElapseUSecMonotonic',
  'LastTriggerUSec',
];
const SERVICE = ['Id', 'ExecStart', 'ActiveState', 'Result', 'ExecMainStatus', 'ExecMainStartTimestamp'];
/** What systemd writes of a unit: each kind of message has its own number. */
const STARTING = '7d4958e842da4a758f6c1cdc7b36dcc5';
const STARTED = '39f53479d3a045ac8e11786248231fbf';
const SUCCEEDED = '7ad2d189f7e94e70a38c781354912448';
const FAILED = 'd9b373ed55a64feb8242e02dbe79a49c';
/** Entries of one run of a service, about. */
const ENTRIES_A_RUN = 4;

export async function timerTasks(ask: Ask, signal: AbortSignal): Promise<TaskItem[]> {
  const timers = await showUnits(await unitNames('timer', ask, signal), TIMER, ask, signal);
  const names = [...new Set(timers.flatMap((timer) => timer.get('Unit') || []))];
  const services = new Map((await showUnits(names, SERVICE, ask, signal)).map((unit) => [unit.get('Id'), unit]));
  const tasks = timers.flatMap((timer) => toTask(timer, services.get(timer.get('Unit'))) ?? []);
  return [...new Map(tasks.map((task) => [task.path, task])).values()];
}

export async function timerTask(name: string, ask: Ask, signal: AbortSignal): Promise<TaskItem> {
  const { timer, service } = await pair(name, ask, signal);
  const task = toTask(timer, service);
  if (!task) throw new ToolError('NOT_FOUND', `there is no timer ${name}`);
  return task;
}

async function pair(name: string, ask: Ask, signal: AbortSignal): Promise<{ timer: Unit; service: Unit | undefined }> {
  const [timer = new Map()] = await showUnits([name], TIMER, ask, signal);
  const target = timer.get('Unit');
  const [service] = target ? await showUnits([target], SERVICE, ask, signal) : [];
  return { timer, service };
}

/** Undefined for a timer that others only mention. */
export function toTask(timer: Unit, service: Unit | undefined): TaskItem | undefined {
  const name = timer.get('Id');
  if (!name || timer.get('LoadState') === 'not-found') return undefined;
  const enabled = timer.get('ActiveState') === 'active';
  const runs =
    service !== undefined && ['running', 'starting'].includes(systemdState(service.get('ActiveState') ?? ''));
  // A run by hand counts too.
  const lastRunTime = timeOf(service?.get('ExecMainStartTimestamp')) ?? timeOf(timer.get('LastTriggerUSec'));
  const command = service && commandOf(service);
  return {
    path: `/systemd/${name}`,
    name,
    folder: '/systemd',
    state: runs ? 'running' : enabled ? 'ready' : 'disabled',
    lastRunTime,
    lastRunResult: lastRunTime && service ? resultOf(service) : null,
    nextRunTime: nextOf(timer),
    triggers: [
      ...triggersOf('calendar', timer.get('TimersCalendar'), enabled),
      ...triggersOf('monotonic', timer.get('TimersMonotonic'), enabled),
    ],
    actions: command
      ? [{ type: 'exec', command: command.path, arguments: argumentsOf(command) }]
      : [{ type: 'unit', command: timer.get('Unit') ?? name, arguments: null }],
    author: null,
    description: timer.get('Description') || null,
  };
}

function argumentsOf({ path, line }: { path: string; line: string }): string | null {
  return (line.startsWith(path) ? line.slice(path.length).trim() : line) || null;
}

/** The earlier of the two clocks that a timer may go by: that of the wall, and that since the start of the machine. */
function nextOf(timer: Unit): string | null {
  const wall = timeOf(timer.get('NextElapseUSecRealtime'));
  const since = parseSpan(timer.get('NextElapseUSecMonotonic') ?? '');
  const at = since === undefined ? 0 : Date.now() - os.uptime() * 1000 + since;
  // One that lies behind is not going to be again.
  const other = at > Date.now() ? new Date(at).toISOString() : null;
  return wall !== null && other !== null && other < wall ? other : (wall ?? other);
}

const UNITS: Record<string, number> = {
  y: 31_557_600_000,
  month: 2_629_800_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  min: 60_000,
  s: 1_000,
  ms: 1,
  us: 0.001,
};

/** Milliseconds of a span as systemd prints it ("1d 2h 46.418942s"); undefined for `infinity` and none. */
export function parseSpan(text: string): number | undefined {
  const parts = [...text.matchAll(/([\d.]+)(month|min|ms|us|y|w|d|h|s)\b/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS[unit ?? ''] ?? 0), 0);
}

function resultOf(service: Unit): string | null {
  const result = service.get('Result');
  if (!result) return null;
  return result === 'exit-code' ? `exit-code ${service.get('ExecMainStatus') ?? ''}`.trim() : result;
}

/** Each of `{ OnCalendar=*-*-* 06:00:00 ; next_elapse=… }`. */
function triggersOf(type: string, text: string | undefined, enabled: boolean): TaskItem['triggers'] {
  return [...(text ?? '').matchAll(/\{ (On\w+)=(.*?) ; next_elapse=/g)].map(([, kind, schedule]) => ({
    type,
    schedule: type === 'calendar' ? (schedule ?? '') : `${kind}=${schedule}`,
    enabled,
  }));
}

/** Repeats are no faults: what is so already says so. */
export async function changeTimer(
  name: string,
  verb: 'run' | 'enable' | 'disable',
  ask: Ask,
  signal: AbortSignal,
): Promise<{ note?: string }> {
  const { timer, service } = await pair(name, ask, signal);
  const task = toTask(timer, service);
  if (!task) throw new ToolError('NOT_FOUND', `there is no timer ${name}`);
  if (verb === 'run') {
    if (task.state === 'running') return { note: 'it ran already' };
    // Without waiting: the work may take hours.
    await changeUnit(['start', '--no-block'], timer.get('Unit') || name, ask, signal);
    return {};
  }
  const file = timer.get('UnitFileState');
  if (file === 'static' || file === 'generated' || file === 'transient')
    throw new ToolError('UNSUPPORTED', `${name} is ${file}: it cannot be switched on or off for good`);
  const enabled = timer.get('ActiveState') === 'active' && (file ?? '').startsWith('enabled');
  if (verb === 'enable' && enabled) return { note: 'it was enabled already' };
  if (verb === 'disable' && timer.get('ActiveState') !== 'active' && !(file ?? '').startsWith('enabled'))
    return { note: 'it was disabled already' };
  await changeUnit([verb, '--now'], name, ask, signal);
  return {};
}

/** The latest runs of the service that a timer starts, newest first, out of what systemd wrote of them. */
export async function timerHistory(name: string, limit: number, ask: Ask, signal: AbortSignal): Promise<TaskRun[]> {
  const { timer } = await pair(name, ask, signal);
  const unit = timer.get('Unit');
  if (!unit) return [];
  const kinds = [STARTING, STARTED, SUCCEEDED, FAILED].map((id) => `MESSAGE_ID=${id}`);
  const args = ['--reverse', `--lines=${limit * ENTRIES_A_RUN}`, '_PID=1', `UNIT=${unit}`, ...kinds];
  return runsOf(await readJournal(args, ask, signal)).slice(0, limit);
}

/** Puts the entries of each run together, by the number that systemd gives to each; newest first as they come. */
export function runsOf(entries: readonly JournalEntry[]): TaskRun[] {
  const runs = new Map<string, TaskRun>();
  for (const entry of entries) {
    const id = textOf(entry.INVOCATION_ID);
    const time = timeOfEntry(entry) ?? null;
    if (id === undefined) continue;
    const run = runs.get(id) ?? { startTime: null, endTime: null, result: null, message: null };
    runs.set(id, run);
    const kind = textOf(entry.MESSAGE_ID);
    if (kind === STARTING) run.startTime = time;
    else if (kind === SUCCEEDED || kind === FAILED) {
      run.endTime = time;
      run.result = kind === SUCCEEDED ? 'success' : (textOf(entry.UNIT_RESULT) ?? 'failed');
      run.message = textOf(entry.MESSAGE)?.slice(0, 1_000) ?? null;
    } else run.startTime ??= time;
  }
  return [...runs.values()];
}
