/** Events of the operating system: warnings and worse of the Linux journal, read on from a cursor. */
import type { SystemEvent } from '#agent-protocol';
import { numberOf, outputOf, parseObjects } from './ask.ts';

export interface SystemEvents {
  events: SystemEvent[];
  /** Where the next reading goes on; undefined when nothing has been read. */
  cursor: string | undefined;
}

/** The most events of one reading; what is left comes with the next. */
export const MOST_EVENTS = 500;
const MOST_MESSAGE = 2_000;
/** How far the first reading looks back. */
const FIRST = '1 hour ago';

/** Warnings and worse after the cursor, oldest first; undefined where there is no journal, or the cursor is not its own. */
export async function readJournal(cursor: string | undefined): Promise<SystemEvents | undefined> {
  if (process.platform !== 'linux') return undefined;
  const from = cursor === undefined ? `--since=${FIRST}` : `--after-cursor=${cursor}`;
  // "+500" is the oldest 500; without the sign it would be the newest, and the rest would be lost.
  const count = `--lines=+${MOST_EVENTS}`;
  const asked = ['--output=json', '--priority=warning', '--no-pager', '--quiet', '--all', from];
  // An older journalctl does not know the sign; it then reads all and is cut here.
  const text = (await outputOf('journalctl', ...asked, count)) ?? (await outputOf('journalctl', ...asked));
  return text === undefined ? undefined : parseJournal(text, cursor);
}

/** One JSON object a line; lines that are none are left out. */
export function parseJournal(text: string, cursor: string | undefined): SystemEvents {
  const read: SystemEvents = { events: [], cursor };
  for (const line of text.split('\n')) {
    if (read.events.length >= MOST_EVENTS) break;
    const [entry] = line.startsWith('{') ? (parseObjects(line) ?? []) : [];
    if (!entry) continue;
    const event = toEvent(entry);
    if (event) read.events.push(event);
    if (typeof entry.__CURSOR === 'string') read.cursor = entry.__CURSOR;
  }
  return read;
}

function toEvent(entry: Record<string, unknown>): SystemEvent | undefined {
  const microseconds = numberOf(entry.__REALTIME_TIMESTAMP);
  const message = textOf(entry.MESSAGE);
  if (microseconds === undefined || !message) return undefined;
  const source = textOf(entry.SYSLOG_IDENTIFIER) ?? textOf(entry._COMM) ?? 'journal';
  const id = textOf(entry.MESSAGE_ID);
  const unit = textOf(entry._SYSTEMD_UNIT);
  const pid = textOf(entry._PID);
  const details = { ...(unit && { unit }), ...(pid && { pid }) };
  return {
    timestamp: new Date(microseconds / 1000).toISOString(),
    level: levelOf(numberOf(entry.PRIORITY)),
    category: categoryOf(entry),
    source: source.slice(0, 255),
    ...(id && { eventId: id.slice(0, 100) }),
    message: message.slice(0, MOST_MESSAGE),
    ...(Object.keys(details).length > 0 && { details }),
  };
}

/** The priorities of syslog: 0 emergency to 3 error, 4 warning, above that news. */
function levelOf(priority = 6): SystemEvent['level'] {
  if (priority <= 2) return 'critical';
  if (priority === 3) return 'error';
  return priority === 4 ? 'warning' : 'info';
}

/** Facilities 4 and 10 of syslog are authorization; the kernel speaks of hardware, systemd's own units of the system. */
function categoryOf(entry: Record<string, unknown>): SystemEvent['category'] {
  const facility = numberOf(entry.SYSLOG_FACILITY);
  if (facility === 4 || facility === 10 || entry._TRANSPORT === 'audit') return 'security';
  if (entry._TRANSPORT === 'kernel') return 'hardware';
  return entry._PID === '1' || facility === 3 ? 'system' : 'application';
}

/** The journal gives what is not UTF-8 as an array of bytes, and a field that comes twice as an array of texts. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() || undefined;
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (typeof value[0] === 'string') return value[0].trim() || undefined;
  return (
    Buffer.from(value.filter((byte) => typeof byte === 'number'))
      .toString('utf8')
      .trim() || undefined
  );
}
