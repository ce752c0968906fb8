/** Log files of macOS that are plain text. */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { EventItem } from '#agent-protocol';
import type { EventQuery } from '../contract.ts';
import { cut, MOST_MESSAGE } from '../limits.ts';

/** The older form, without year and zone: `Jan  6 09:12:33 host name[123]: text`. */
const SYSLOG = /^(\w{3}\s+\d+ [\d:]{8}) (\S+) ([^:[]+)(?:\[\d+\])?(?: \([^)]*\))?: (.*)$/;
/** The form of install.log: `2025-01-06 09:12:33+01 host name[123]: text`. */
const DATED = /^(\d{4}-\d\d-\d\d)[ T]([\d:]{8})(?:\.\d+)?\s?([+-]\d\d(?::?\d\d)?)? (\S+) ([^:[]+)(?:\[\d+\])?: (.*)$/;

/** Lines of a log file as events, oldest first; a line without a time goes on with the one before it. */
export function parseTextLog(text: string, name: string, now = new Date()): EventItem[] {
  const events: EventItem[] = [];
  for (const line of text.split('\n')) {
    const read = readSyslog(line, now) ?? readDated(line);
    const last = events.at(-1);
    if (read) events.push({ ...read, recordId: idOf(line), level: levelOf(read.message), eventId: null, user: null });
    else if (last && line.trim() !== '') last.message = cut(`${last.message}\n${line.trimEnd()}`, MOST_MESSAGE);
  }
  return events.map((event) => ({ ...event, source: event.source || posix.basename(name, '.log') }));
}

type Read = Pick<EventItem, 'timestamp' | 'source' | 'message' | 'computer'>;

/** A time without a year is in this one, or, when it would lie ahead, in the one before; the zone is the device's. */
function readSyslog(line: string, now: Date): Read | undefined {
  const [, time, computer, source, message] = SYSLOG.exec(line) ?? [];
  if (time === undefined || computer === undefined || source === undefined || message === undefined) return undefined;
  const at = new Date(`${time} ${now.getFullYear()}`);
  if (Number.isNaN(at.getTime())) return undefined;
  if (at.getTime() > now.getTime() + 86_400_000) at.setFullYear(now.getFullYear() - 1);
  return { timestamp: at.toISOString(), computer, source: source.trim(), message: cut(message, MOST_MESSAGE) };
}

function readDated(line: string): Read | undefined {
  const [, day, clock, zone = '', computer, source, message] = DATED.exec(line) ?? [];
  if (day === undefined || computer === undefined || source === undefined || message === undefined) return undefined;
  const offset = zone.length === 3 ? `${zone}:00` : zone.replace(/^(...)(\d\d)$/, '$1:$2');
  const at = new Date(`${day}T${clock}${offset}`);
  if (Number.isNaN(at.getTime())) return undefined;
  return { timestamp: at.toISOString(), computer, source: source.trim(), message: cut(message, MOST_MESSAGE) };
}

/** These files carry no level; the words of the message are all there is. */
function levelOf(message: string): EventItem['level'] {
  if (/\b(panic|fatal|critical)\b/i.test(message)) return 'critical';
  if (/\b(error|failed|failure)\b/i.test(message)) return 'error';
  return /\b(warning|warn)\b/i.test(message) ? 'warning' : 'info';
}

function idOf(line: string): string {
  return createHash('sha256').update(line).digest('base64url').slice(0, 22);
}

/** Whether an event is one that a query looks for. */
export function takes(query: Omit<EventQuery, 'page' | 'limit'>, event: EventItem): boolean {
  const { level, source, startTime, endTime, eventId } = query;
  const at = Date.parse(event.timestamp);
  return (
    eventId === undefined &&
    (level ?? event.level) === event.level &&
    (source?.toLowerCase() ?? event.source.toLowerCase()) === event.source.toLowerCase() &&
    (startTime === undefined || at >= Date.parse(startTime)) &&
    (endTime === undefined || at <= Date.parse(endTime))
  );
}
