/** Event logs out of the text files that syslog writes, on systems without a journal. */
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventItem, EventLogItem } from '#agent-protocol';
import { type EventLogs, type EventQuery, ToolError } from '../../contract.ts';
import { pageOf } from '../../paging.ts';
import { fileFault } from '../../paths.ts';

/** The files that the usual syslog programs write; others in the folder are of programs' own kinds. */
const FILES =
  /^(syslog|messages|auth\.log|secure|kern\.log|daemon\.log|cron|cron\.log|maillog|mail\.log|user\.log|debug)$/;
/** The end of a file that is read: older events are in it, but not worth reading gigabytes. */
const TAIL_BYTES = 8 * 1024 * 1024;
const MOST_MESSAGE = 8_000;

export function syslogFiles(folder: string): EventLogs {
  const nameOf = async (log: string): Promise<string> => {
    const names = await readdir(folder).catch(() => []);
    const found = names.find((name) => FILES.test(name) && name.toLowerCase() === log.toLowerCase());
    if (!found) throw new ToolError('NOT_FOUND', `there is no log ${log}`);
    return found;
  };
  return {
    async list() {
      const items: EventLogItem[] = [];
      for (const name of (await readdir(folder).catch(() => [])).filter((file) => FILES.test(file)).sort()) {
        const found = await stat(join(folder, name)).catch(() => undefined);
        if (!found?.isFile()) continue;
        const empty = { recordCount: null, maxSize: null, retentionDays: null };
        items.push({ name, displayName: join(folder, name), ...empty, lastWriteTime: found.mtime.toISOString() });
      }
      return items;
    },
    async query(log, query) {
      const { items, whole } = await readTail(join(folder, await nameOf(log)));
      const page = pageOf(items.reverse().filter(filterOf(query)), query);
      return { items: page.items, total: whole ? page.total : null };
    },
    async event(log, recordId) {
      const { items } = await readTail(join(folder, await nameOf(log)));
      const item = items.find((candidate) => candidate.recordId === recordId);
      if (!item) throw new ToolError('NOT_FOUND', 'there is no such event in this log any more');
      return { ...item, details: {} };
    },
  };
}

function filterOf({ level, source, startTime, endTime, eventId }: EventQuery): (item: EventItem) => boolean {
  return (item) =>
    (level === undefined || item.level === level) &&
    (source === undefined || item.source === source) &&
    (startTime === undefined || item.timestamp >= startTime) &&
    (endTime === undefined || item.timestamp <= endTime) &&
    // Lines of text have none.
    eventId === undefined;
}

/** The events in the last megabytes of a file, oldest first. Their ids are the file's number and their place in it. */
async function readTail(path: string): Promise<{ items: EventItem[]; whole: boolean }> {
  try {
    const file = await open(path, 'r');
    try {
      const { size, ino, mtime } = await file.stat();
      const from = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const items: EventItem[] = [];
      for (let at = from === 0 ? 0 : buffer.indexOf(10) + 1; at < bytesRead; ) {
        const end = buffer.indexOf(10, at);
        const line = buffer.toString('utf8', at, end < 0 ? bytesRead : end);
        const event = parseSyslogLine(line, mtime);
        if (event) items.push({ recordId: `${ino}-${from + at}`, ...event });
        at = end < 0 ? bytesRead : end + 1;
      }
      return { items, whole: from === 0 };
    } finally {
      await file.close();
    }
  } catch (fault) {
    throw fileFault(fault, path);
  }
}

/**
 * A line such as `May  3 10:00:00 host sshd[1]: text` or with a time as ISO 8601; undefined for others. The short form
 * names no year and no zone: it is the machine's own time, and the last such day before the file was written.
 */
export function parseSyslogLine(line: string, written: Date): Omit<EventItem, 'recordId'> | undefined {
  const [, short, iso, computer = '', rest = ''] =
    /^(?:([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)|(\d{4}-\d\d-\d\dT\S+)) (\S+) (.*)$/.exec(line) ?? [];
  const time = iso ? new Date(iso) : short ? shortTime(short, written) : undefined;
  if (!time || Number.isNaN(time.getTime())) return undefined;
  const [, source = 'syslog', message = rest] = /^([^\s:[]+)(?:\[\d+\])?: (.*)$/.exec(rest) ?? [];
  return {
    timestamp: time.toISOString(),
    // The files do not say it.
    level: 'info',
    source: source.slice(0, 255),
    eventId: null,
    message: message.slice(0, MOST_MESSAGE),
    computer,
    user: null,
  };
}

function shortTime(text: string, written: Date): Date {
  const time = new Date(`${text.replace(/\s+/g, ' ')} ${written.getFullYear()}`);
  // A day's grace: clocks are set right now and then.
  if (time.getTime() > written.getTime() + 86_400_000) time.setFullYear(written.getFullYear() - 1);
  return time;
}
