/** The event logs of macOS: the unified log as `system`, and the text files beside it. */
import { posix } from 'node:path';
import type { EventDetail, EventItem, EventLogItem } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { type EventLogs, ToolError } from '../contract.ts';
import { cut, MAX_MESSAGE_CHARACTERS } from '../limits.ts';
import { pageOf } from '../paging.ts';
import { parseTextLog, takes } from './text-log.ts';
import { type LogLine, logArguments, logTime, momentOf, parseNdjson, recordIdOf, toEvent } from './unified-log.ts';

export const LOG = '/usr/bin/log';
const FOLDER = '/var/log';
/** Of text files the end is read: their lines are not indexed. */
const MAX_LINES = 20_000;
/** The fields of an entry that say more about it. */
const DETAILS = [
  'subsystem',
  'category',
  'processID',
  'threadID',
  'processImagePath',
  'senderImagePath',
  'activityIdentifier',
  'formatString',
];

export function macosEventLogs(ask: Ask): EventLogs {
  return {
    async list(signal) {
      const system = { name: 'system', displayName: 'Unified log', recordCount: null, maxSize: null };
      return [{ ...system, retentionDays: null, lastWriteTime: null }, ...(await listTextLogs(ask, signal))];
    },
    async query(log, { page, limit, ...filter }, signal) {
      if (!isUnified(log)) {
        const found = (await readTextLog(ask, log, signal)).filter((event) => takes(filter, event));
        return pageOf(found, { page, limit });
      }
      const args = logArguments(filter);
      if (!args) return { items: [], total: 0 };
      const { items, total } = pageOf(await readUnifiedLog(ask, args, signal), { page, limit });
      return { items: items.map(toEvent), total };
    },
    async event(log, recordId, signal) {
      if (isUnified(log)) return unifiedEvent(ask, log, recordId, signal);
      const found = (await readTextLog(ask, log, signal)).find((event) => event.recordId === recordId);
      if (!found) throw eventNotFound(log);
      return { ...found, details: {} };
    },
  };
}

function isUnified(log: string): boolean {
  return log.toLowerCase() === 'system';
}

/** The text files in /var/log, by name. */
async function listTextLogs(ask: Ask, signal: AbortSignal): Promise<EventLogItem[]> {
  const args = [FOLDER, '-maxdepth', '1', '-type', 'f', '-name', '*.log', '-exec', '/usr/bin/stat'];
  const { stdout } = await ask('/usr/bin/find', [...args, '-f', '%m %z %N', '{}', '+'], { signal });
  const files = [...stdout.matchAll(/^(\d+) \d+ (.+)$/gm)].map(([, seconds, path = '']) => ({
    name: posix.basename(path),
    displayName: path,
    recordCount: null,
    maxSize: null,
    retentionDays: null,
    lastWriteTime: new Date(Number(seconds) * 1000).toISOString(),
  }));
  return files.sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** The last lines of a text file, newest first. */
async function readTextLog(ask: Ask, log: string, signal: AbortSignal): Promise<EventItem[]> {
  if (!/^[\w.-]{1,100}\.log$/.test(log)) throw new ToolError('NOT_FOUND', `There is no log ${log}`);
  const args = ['-n', String(MAX_LINES), posix.join(FOLDER, log)];
  const { code, stdout, stderr } = await ask('/usr/bin/tail', args, { signal });
  if (code === 0) return parseTextLog(stdout, log).reverse();
  const denied = /permission denied|not permitted/i.test(stderr);
  throw new ToolError(denied ? 'DENIED' : 'NOT_FOUND', `The log ${log} cannot be read`);
}

/** The entries that `log` prints for these arguments, newest first. */
async function readUnifiedLog(ask: Ask, args: string[], signal: AbortSignal): Promise<LogLine[]> {
  const { code, stdout, stderr } = await ask(LOG, args, { signal });
  if (code === 0) return parseNdjson(stdout).reverse();
  if (/must be (admin|root)|not permitted|permission/i.test(stderr)) {
    throw new ToolError('DENIED', 'The unified log is open to administrators only');
  }
  throw new Error(`log show failed: ${stderr.trim().slice(0, 500)}`);
}

/** One entry of the unified log; the record id holds its time, so that only a few seconds are read. */
async function unifiedEvent(ask: Ask, log: string, recordId: string, signal: AbortSignal): Promise<EventDetail> {
  const at = momentOf(recordId);
  const span = ['--start', logTime(at - 1000), '--end', logTime(at + 2000)];
  const args = ['show', '--style', 'ndjson', '--info', '--debug', ...span];
  const line = (await readUnifiedLog(ask, args, signal)).find((one) => recordIdOf(one) === recordId);
  if (!line) throw eventNotFound(log);
  const details = DETAILS.flatMap((name) =>
    line[name] === undefined || line[name] === '' ? [] : [[name, cut(String(line[name]), MAX_MESSAGE_CHARACTERS)]],
  );
  return { ...toEvent(line), details: Object.fromEntries(details) };
}

function eventNotFound(log: string): ToolError {
  return new ToolError('NOT_FOUND', `There is no such event in ${log}; logs forget`);
}
