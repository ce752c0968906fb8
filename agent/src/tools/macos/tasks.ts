/** Scheduled tasks of macOS: jobs of launchd that a clock or a calendar starts. */
import { posix } from 'node:path';
import type { TaskItem, TaskRun } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { type Tasks, ToolError } from '../contract.ts';
import { cut, MAX_COMMAND_LINE_CHARACTERS } from '../limits.ts';
import { matches, pageOf } from '../paging.ts';
import { triggersOf } from './calendar.ts';
import { LOG } from './event-logs.ts';
import type { Job } from './launchctl.ts';
import { type Launchd, launchd } from './launchd.ts';
import { runsOf } from './task-runs.ts';
import { literal, parseNdjson } from './unified-log.ts';

const SCHEDULED = 'StartInterval|StartCalendarInterval';
const AT_ONCE = 8;

interface Definition {
  path: string;
  plist: Record<string, unknown>;
  label: string;
}

/** A task's path is that of its definition file, its folder the folder of that file. */
export function macosTasks(ask: Ask, jobs: Launchd = launchd(ask)): Tasks {
  const find = (path: string, signal: AbortSignal) => findDefinition(ask, jobs, path, signal);
  return {
    async list(query, signal) {
      const folder = query.folder.replaceAll('\\', '/').replace(/\/+$/, '');
      const paths = await scheduledPaths(ask, jobs, signal);
      const inFolder = paths.filter((path) => folder === '' || path.startsWith(`${folder}/`));
      const definitions = await readDefinitions(ask, inFolder, signal);
      const describe = await describer(jobs, signal);
      const found = definitions
        .map(describe)
        .filter(({ path, actions }) => matches(query.search, path, ...actions.map(({ command }) => command)));
      return pageOf(
        found.sort((a, b) => a.path.localeCompare(b.path, 'en')),
        query,
      );
    },
    async get(path, signal) {
      const found = await find(path, signal);
      return (await describer(jobs, signal))(found);
    },
    async history(path, limit, signal): Promise<TaskRun[]> {
      const { label } = await find(path, signal);
      const predicate = `process == "launchd" AND eventMessage CONTAINS ${literal(label)}`;
      const args = ['show', '--style', 'ndjson', '--info', '--predicate', predicate, '--last', '1d'];
      const { code, stdout, stderr } = await ask(LOG, args, { signal });
      if (code !== 0) throw new Error(`log show failed: ${stderr.trim().slice(0, 500)}`);
      return runsOf(parseNdjson(stdout), label).slice(0, limit);
    },
    async change(path, verb, signal) {
      const { label } = await find(path, signal);
      const loaded = await jobs.print(label, signal);
      const disabled = (await jobs.disabled(signal)).has(label);
      if (verb === 'run') {
        if (loaded?.pid) return { note: 'The task runs already' };
        await jobs.start(label, false, signal);
      } else if (verb === 'enable') {
        if (loaded && !disabled) return { note: 'The task was enabled already' };
        await jobs.enable(label, true, signal);
        if (!loaded) await jobs.load(label, path, signal);
      } else {
        if (!loaded && disabled) return { note: 'The task was disabled already' };
        await jobs.enable(label, false, signal);
        // A job that is loaded would go on until the next start of the machine.
        if (loaded) await jobs.unload(label, signal);
      }
      return {};
    },
  };
}

/** The definition files that mention a clock or a calendar. */
async function scheduledPaths(ask: Ask, jobs: Launchd, signal: AbortSignal): Promise<string[]> {
  // Binary definitions hold the names of their keys in ASCII too.
  const { stdout } = await ask('/usr/bin/grep', ['-rlaE', SCHEDULED, ...jobs.folders], { signal });
  return stdout.split('\n').filter((path) => path.endsWith('.plist'));
}

async function readDefinitions(ask: Ask, paths: readonly string[], signal: AbortSignal): Promise<Definition[]> {
  const definitions: Definition[] = [];
  for (let from = 0; from < paths.length; from += AT_ONCE) {
    const some = paths.slice(from, from + AT_ONCE);
    const read = await Promise.all(some.map((path) => readDefinition(ask, path, signal)));
    definitions.push(...read.filter((one) => one !== undefined));
  }
  return definitions;
}

async function readDefinition(ask: Ask, path: string, signal: AbortSignal): Promise<Definition | undefined> {
  const args = ['-convert', 'json', '-o', '-', '--', path];
  const { code, stdout } = await ask('/usr/bin/plutil', args, { signal });
  // plutil cannot write dates and data as JSON; such definitions are left out.
  const plist = code === 0 ? objectOf(stdout) : undefined;
  return plist && typeof plist.Label === 'string' ? { path, plist, label: plist.Label } : undefined;
}

async function findDefinition(ask: Ask, jobs: Launchd, path: string, signal: AbortSignal): Promise<Definition> {
  const inside = jobs.folders.includes(posix.dirname(path)) && posix.normalize(path) === path;
  const found = inside && path.endsWith('.plist') ? await readDefinition(ask, path, signal) : undefined;
  if (!found || triggersOf(found.plist).length === 0) throw new ToolError('NOT_FOUND', `There is no task ${path}`);
  return found;
}

/** Describes definitions with the state that launchd reports now. */
async function describer(jobs: Launchd, signal: AbortSignal): Promise<(one: Definition) => TaskItem> {
  const [loaded, disabled] = await Promise.all([jobs.jobs(signal), jobs.disabled(signal)]);
  return (one) => toTask(one, loaded.get(one.label), disabled.has(one.label));
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function toTask({ path, plist, label }: Definition, job: Job | undefined, disabled: boolean): TaskItem {
  const words = Array.isArray(plist.ProgramArguments) ? plist.ProgramArguments.map(String) : [];
  const command = typeof plist.Program === 'string' ? plist.Program : (words[0] ?? '');
  const rest = words.slice(1).join(' ');
  return {
    path,
    name: label,
    folder: posix.dirname(path),
    state: job?.pid ? 'running' : job && !disabled ? 'ready' : 'disabled',
    // launchd keeps how the last run ended, not when, and does not report the next run.
    lastRunTime: null,
    lastRunResult: job?.lastExit === null || job === undefined ? null : String(job.lastExit),
    nextRunTime: null,
    triggers: triggersOf(plist),
    actions: [
      {
        type: 'exec',
        command: cut(command, MAX_COMMAND_LINE_CHARACTERS),
        arguments: rest === '' ? null : cut(rest, MAX_COMMAND_LINE_CHARACTERS),
      },
    ],
    author: null,
    description: null,
  };
}
