/** The unified log of macOS: questions as predicates with every text quoted, and answers as one JSON object a line. */
import { posix } from 'node:path';
import type { EventItem } from '#agent-protocol';
import { type EventQuery, ToolError } from '../contract.ts';
import { cut, MAX_MESSAGE_CHARACTERS } from '../limits.ts';

/** Without a start the log is read this far back: it grows by gigabytes and has no index. */
const DEFAULT_MS = 15 * 60_000;
/** Types of messages; the log of macOS knows no warnings. */
const TYPES: Record<EventItem['level'], readonly string[]> = {
  critical: ['fault'],
  error: ['error'],
  warning: [],
  info: ['default', 'info'],
  debug: ['debug'],
};

/** A text as a literal of a predicate. */
export function literal(text: string): string {
  if (/[\0\r\n]/.test(text)) throw new ToolError('INVALID', 'A text with line breaks cannot be looked for');
  return `"${text.replaceAll(/[\\"]/g, (mark) => `\\${mark}`)}"`;
}

/** Arguments of `log` for a query; undefined when the log can hold nothing of the kind. */
export function logArguments(query: Omit<EventQuery, 'page' | 'limit'>, now = Date.now()): string[] | undefined {
  const { level, source, startTime, endTime, eventId } = query;
  // The log of macOS numbers no kinds of events.
  if (eventId !== undefined || (level !== undefined && TYPES[level].length === 0)) return undefined;
  const end = endTime === undefined ? now : instant(endTime);
  const start = startTime === undefined ? end - DEFAULT_MS : instant(startTime);
  const parts = [
    'eventType == logEvent',
    ...(level === undefined ? [] : [`(${TYPES[level].map((type) => `messageType == ${type}`).join(' OR ')})`]),
    ...(source === undefined ? [] : [`(process == ${literal(source)} OR subsystem == ${literal(source)})`]),
  ];
  return [
    'show',
    '--style',
    'ndjson',
    '--predicate',
    parts.join(' AND '),
    ...['--start', logTime(start), '--end', logTime(end)],
    ...(level === 'info' || level === 'debug' ? ['--info'] : []),
    ...(level === 'debug' ? ['--debug'] : []),
  ];
}

/** `2025-01-06 08:12:33+0000`, which `log` takes in any zone. */
export function logTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}+0000`;
}

function instant(time: string): number {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) throw new ToolError('INVALID', `${time} is no time`);
  return ms;
}

export type LogLine = Record<string, unknown> & { timestamp: string };

/** Events of `log show --style ndjson`, oldest first as printed; the line about the count at the end is none. */
export function parseNdjson(text: string): LogLine[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      const value = JSON.parse(line) as LogLine;
      return typeof value.timestamp === 'string' && value.eventMessage !== undefined ? [value] : [];
    } catch {
      return [];
    }
  });
}

/** `2025-01-06 09:12:33.123456+0100` in milliseconds. */
export function timeOf(timestamp: string): number {
  return Date.parse(
    timestamp
      .replace(' ', 'T')
      .replace(/(\.\d{3})\d*/, '$1')
      .replace(/([+-]\d\d)(\d\d)$/, '$1:$2'),
  );
}

export function toEvent(line: LogLine): EventItem {
  const program = typeof line.processImagePath === 'string' ? posix.basename(line.processImagePath) : '';
  const type = String(line.messageType ?? 'Default').toLowerCase();
  const level = Object.entries(TYPES).find(([, types]) => types.includes(type))?.[0] as EventItem['level'] | undefined;
  return {
    recordId: recordIdOf(line),
    timestamp: new Date(timeOf(line.timestamp)).toISOString(),
    level: level ?? 'info',
    source: program || 'kernel',
    category: typeof line.category === 'string' && line.category !== '' ? line.category : null,
    eventId: null,
    message: cut(String(line.eventMessage ?? '').replaceAll('\0', ''), MAX_MESSAGE_CHARACTERS),
    computer: null,
    user: typeof line.userID === 'number' ? String(line.userID) : null,
  };
}

/** Entries have no number: time, ticks of the clock, and thread name one. */
export function recordIdOf(line: LogLine): string {
  const parts = [timeOf(line.timestamp), line.machTimestamp ?? 0, line.threadID ?? 0];
  return Buffer.from(parts.join('/')).toString('base64url');
}

/** The moment an id speaks of, in milliseconds; throws INVALID. */
export function momentOf(recordId: string): number {
  const [ms] = Buffer.from(recordId, 'base64url').toString().split('/');
  const moment = Number(ms || Number.NaN);
  if (!Number.isFinite(moment)) throw new ToolError('INVALID', 'This is no id of an event');
  return moment;
}
