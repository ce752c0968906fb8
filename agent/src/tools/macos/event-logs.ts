/** The event logs of macOS: the unified log as `system`, and the text files beside it. */
import { posix } from 'node:path';
import type { EventItem } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { type EventLogs, ToolError } from '../contract.ts';
import { cut, MOST_MESSAGE } from '../limits.ts';
import { pageOf } from '../paging.ts';
import { parseTextLog, takes } from './text-log.ts';
import { logArguments, logTime, momentOf, parseNdjson, recordIdOf, toEvent } from './unified-log.ts';

export const LOG = '/usr/bin/log';
const FOLDER = '/var/log';
/** Of text files the end is read: their lines are not indexed. */
const MOST_LINES = 20_000;
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
  const textFile = async (log: string, signal: AbortSignal): Promise<EventItem[]> => {
    if (!/^[\w.-]{1,100}\.log$/.test(log)) throw new ToolError('NOT_FOUND', `There is no log ${log}`);
    const args = ['-n', String(MOST_LINES), posix.join(FOLDER, log)];
    const { code, stdout, stderr } = await ask('/usr/bin/tail', args, { signal });
    if (code === 0) return parseTextLog(stdout, log).reverse();
    const denied = /permission denied|not permitted/i.test(stderr);
    throw new ToolError(denied ? 'DENIED' : 'NOT_FOUND', `The log ${log} cannot be read`);
  };
  const unified = async (args: string[], signal: AbortSignal) => {
    const { code, stdout, stderr } = await ask(LOG, args, { signal });
    if (code === 0) return parseNdjson(stdout).reverse();
    if (/must be (admin|root)|not permitted|permission/i.test(stderr)) {
      throw new ToolError('DENIED', 'The unified log is open to administrators only');
    }
    throw new Error(`log show failed: ${stderr.trim().slice(0, 500)}`);
  };
  return {
    async list(signal) {
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
      const system = { name: 'system', displayName: 'Unified log', recordCount: null, maxSize: null };
      return [
        { ...system, retentionDays: null, lastWriteTime: null },
        ...files.sort((a, b) => a.name.localeCompare(b.name, 'en')),
      ];
    },
    async query(log, { page, limit, ...filter }, signal) {
      if (log.toLowerCase() !== 'system') {
        const found = (await textFile(log, signal)).filter((event) => takes(filter, event));
        return pageOf(found, { page, limit });
      }
      const args = logArguments(filter);
      if (!args) return { items: [], total: 0 };
      const { items, total } = pageOf(await unified(args, signal), { page, limit });
      return { items: items.map(toEvent), total };
    },
    async event(log, recordId, signal) {
      if (log.toLowerCase() !== 'system') {
        const found = (await textFile(log, signal)).find((event) => event.recordId === recordId);
        if (!found) throw gone(log);
        return { ...found, details: {} };
      }
      const at = momentOf(recordId);
      const span = ['--start', logTime(at - 1000), '--end', logTime(at + 2000)];
      const args = ['show', '--style', 'ndjson', '--info', '--debug', ...span];
      const line = (await unified(args, signal)).find((one) => recordIdOf(one) === recordId);
      if (!line) throw gone(log);
      const details = DETAILS.flatMap((name) =>
        line[name] === undefined || line[name] === '' ? [] : [[name, cut(String(line[name]), MOST_MESSAGE)]],
      );
      return { ...toEvent(line), details: Object.fromEntries(details) };
    },
  };
}

function gone(log: string): ToolError {
  return new ToolError('NOT_FOUND', `There is no such event in ${log}; logs forget`);
}
