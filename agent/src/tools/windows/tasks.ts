/** Scheduled tasks of Windows, through the scheduler's own interface (COM), whose answers are numbers in any language. */

import type { TaskItem } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { type Tasks, ToolError } from '../contract.ts';
import { cut, MOST_COMMAND_LINE } from '../limits.ts';
import { matches, pageOf } from '../paging.ts';
import { readEvents } from './event-logs.ts';
import { instantOf, numberOf, powershell, type Row, rows, textOf } from './powershell.ts';
import { runsOf } from './task-runs.ts';
import { triggerOf } from './task-triggers.ts';
import { literal } from './xpath.ts';

const SCHEDULER = `
  $service = New-Object -ComObject Schedule.Service
  $service.Connect()
  function Show($task) {
    $shown = @{
      path = $task.Path; state = $task.State; last = (Stamp $task.LastRunTime); next = (Stamp $task.NextRunTime)
      result = $task.LastTaskResult
    }
    try {
      $definition = $task.Definition
      $shown.author = $definition.RegistrationInfo.Author
      $shown.description = $definition.RegistrationInfo.Description
      $shown.triggers = @($definition.Triggers | ForEach-Object { @{
        type = $_.Type; enabled = $_.Enabled; start = $_.StartBoundary; every = $_.Repetition.Interval
        days = $_.DaysInterval; weeks = $_.WeeksInterval; weekdays = $_.DaysOfWeek; monthdays = $_.DaysOfMonth
        months = $_.MonthsOfYear; weeksOfMonth = $_.WeeksOfMonth; user = $_.UserId; delay = $_.Delay
      } })
      $shown.actions = @($definition.Actions | ForEach-Object { @{
        type = $_.Type; path = $_.Path; arguments = $_.Arguments; class = $_.ClassId
      } })
    } catch { }
    $shown
  }
`;
const LIST = `${SCHEDULER}
  function Walk($folder) {
    foreach ($task in $folder.GetTasks(1)) { Show $task }
    foreach ($inner in $folder.GetFolders(0)) { Walk $inner }
  }
  Walk ($service.GetFolder($asked.folder))
`;
const GET = `${SCHEDULER}
  Show ($service.GetFolder($asked.folder).GetTask($asked.name))
`;
const CHANGE = `${SCHEDULER}
  $task = $service.GetFolder($asked.folder).GetTask($asked.name)
  if ($asked.verb -eq 'run') {
    if (-not $task.Enabled) { Refuse 'CONFLICT' }
    if ($task.State -eq 4) { return @{ note = 'The task runs already' } }
    $null = $task.Run($null)
  }
  elseif ($asked.verb -eq 'enable') {
    if ($task.Enabled) { return @{ note = 'The task was enabled already' } }
    $task.Enabled = $true
  }
  else {
    if (-not $task.Enabled) { return @{ note = 'The task was disabled already' } }
    $task.Enabled = $false
  }
`;
const HISTORY = 'Microsoft-Windows-TaskScheduler/Operational';
/** One run writes up to this many events. */
const EVENTS_A_RUN = 8;
const MOST_PATH = 512;

const STATES: TaskItem['state'][] = ['unknown', 'disabled', 'queued', 'ready', 'running'];
const ACTIONS: Record<number, string> = { 0: 'exec', 5: 'com', 6: 'email', 7: 'message' };

export function windowsTasks(ask: Ask): Tasks {
  const run = (script: string, asked: Row, about: string, signal: AbortSignal): Promise<unknown> =>
    powershell(ask, script, { about, asked, signal });
  return {
    async list(query, signal) {
      const folder = `\\${partsOf(query.folder).join('\\')}`;
      const all = rows(await run(LIST, { folder }, `The folder ${folder}`, signal)).map(toTask);
      const found = all.filter(({ path, description }) => matches(query.search, path, description));
      return pageOf(
        found.sort((a, b) => a.path.localeCompare(b.path, 'en')),
        query,
      );
    },
    async get(path, signal) {
      const place = placeOf(path);
      const [row] = rows(await run(GET, { ...place }, `The task ${path}`, signal));
      if (!row) throw new ToolError('NOT_FOUND', `There is no task ${path}`);
      return toTask(row);
    },
    async history(path, limit, signal) {
      const { folder, name } = placeOf(path);
      const full = folder === '\\' ? `\\${name}` : `${folder}\\${name}`;
      const xpath = `*[EventData[Data[@Name='TaskName']=${literal(full)}]]`;
      const asked = { log: HISTORY, xpath, skip: 0, limit: limit * EVENTS_A_RUN, details: true };
      return runsOf(await readEvents(ask, asked, signal)).slice(0, limit);
    },
    async change(path, verb, signal) {
      const [answer] = rows(await run(CHANGE, { ...placeOf(path), verb }, `The task ${path}`, signal));
      const note = textOf(answer?.note);
      return note === null ? {} : { note };
    },
  };
}

function partsOf(path: string): string[] {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  if (path.length > MOST_PATH || path.includes('\0') || parts.some((part) => part === '..' || part === '.')) {
    throw new ToolError('INVALID', 'This is no path of a task');
  }
  return parts;
}

function placeOf(path: string): { folder: string; name: string } {
  const parts = partsOf(path);
  const name = parts.pop();
  if (name === undefined) throw new ToolError('INVALID', 'A task has a name');
  return { folder: `\\${parts.join('\\')}`, name };
}

function toTask(row: Row): TaskItem {
  const path = String(row.path);
  const split = path.lastIndexOf('\\');
  const result = numberOf(row.result);
  const actions = rows(row.actions).map((action) => ({
    type: ACTIONS[Number(action.type)] ?? 'other',
    command: cut(textOf(action.path) ?? textOf(action.class) ?? '', MOST_COMMAND_LINE),
    arguments: textOf(action.arguments) && cut(String(action.arguments), MOST_COMMAND_LINE),
  }));
  const lastRunTime = instantOf(row.last);
  return {
    path,
    name: path.slice(split + 1),
    folder: path.slice(0, split) || '\\',
    state: STATES[Number(row.state)] ?? 'unknown',
    lastRunTime,
    // Windows gives a number (267011, "has not run yet") even to tasks that never ran.
    lastRunResult: result === null || lastRunTime === null ? null : String(result),
    nextRunTime: instantOf(row.next),
    triggers: rows(row.triggers).map(triggerOf),
    actions,
    author: textOf(row.author),
    description: textOf(row.description),
  };
}
