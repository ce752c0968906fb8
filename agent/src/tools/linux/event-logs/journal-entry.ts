/** One entry of the journal, as `journalctl --output=json` prints it. */

import type { EventItem } from '#agent-protocol';
import { numberOf, parseObjects } from '../../../collect/ask.ts';
import { textOf } from '../../../collect/system-events.ts';

export type JournalEntry = Readonly<Record<string, unknown>>;

const MAX_MESSAGE_CHARACTERS = 8_000;
const MAX_FIELDS = 100;

/** One JSON object a line; lines that are none, such as one that was cut, are left out. */
export function parseEntries(text: string): JournalEntry[] {
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? (parseObjects(line) ?? []) : []));
}

/** The fields of an entry that `toItem` reads: asking for these alone spares the rest. */
export const ITEM_FIELDS = [
  'MESSAGE',
  'MESSAGE_ID',
  'PRIORITY',
  'SYSLOG_FACILITY',
  'SYSLOG_IDENTIFIER',
  '_COMM',
  '_HOSTNAME',
  '_UID',
  'UNIT',
  'INVOCATION_ID',
  'UNIT_RESULT',
];

/** Undefined for an entry without a cursor or a time, which no journal writes. */
export function toItem(entry: JournalEntry): EventItem | undefined {
  const recordId = textOf(entry.__CURSOR);
  const timestamp = timeOfEntry(entry);
  if (recordId === undefined || timestamp === undefined) return undefined;
  return {
    recordId,
    timestamp,
    level: levelOf(numberOf(entry.PRIORITY)),
    source: (textOf(entry.SYSLOG_IDENTIFIER) ?? textOf(entry._COMM) ?? 'journal').slice(0, 255),
    category: facilityOf(entry),
    eventId: textOf(entry.MESSAGE_ID)?.slice(0, 100) ?? null,
    message: (textOf(entry.MESSAGE) ?? '').slice(0, MAX_MESSAGE_CHARACTERS),
    computer: textOf(entry._HOSTNAME) ?? null,
    user: textOf(entry._UID) ?? null,
  };
}

/** Facilities of syslog by number (RFC 5424); 12 to 15 have no name that programs share. */
const FACILITIES = 'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp'.split(' ');
const FIRST_LOCAL = 16;
const LAST_LOCAL = 23;

/** The name of the facility; null for what a program wrote to the journal or its output directly. */
function facilityOf(entry: JournalEntry): string | null {
  const number = numberOf(entry.SYSLOG_FACILITY);
  if (number === undefined) return null;
  if (number >= FIRST_LOCAL && number <= LAST_LOCAL) return `local${number - FIRST_LOCAL}`;
  return FACILITIES[number] ?? null;
}

/** Microseconds since 1970 as ISO 8601. */
export function timeOfEntry(entry: JournalEntry): string | undefined {
  const microseconds = numberOf(entry.__REALTIME_TIMESTAMP);
  return microseconds === undefined ? undefined : new Date(microseconds / 1000).toISOString();
}

/** All that the journal knows of an entry besides its message, without its own positions. */
export function detailsOf(entry: JournalEntry): Record<string, string> {
  const details: Record<string, string> = {};
  for (const [name, value] of Object.entries(entry).slice(0, MAX_FIELDS)) {
    const text = name.startsWith('__') || name === 'MESSAGE' ? undefined : textOf(value);
    if (text !== undefined) details[name] = text.slice(0, MAX_MESSAGE_CHARACTERS);
  }
  return details;
}

const PRIORITIES: Record<EventItem['level'], string> = {
  critical: '0..2',
  error: '3..3',
  warning: '4..4',
  info: '5..6',
  debug: '7..7',
};

/** The range of syslog priorities that counts as a level. */
export function prioritiesOf(level: EventItem['level']): string {
  return PRIORITIES[level];
}

export function levelOf(priority = 6): EventItem['level'] {
  if (priority <= 2) return 'critical';
  if (priority === 3) return 'error';
  if (priority === 4) return 'warning';
  return priority <= 6 ? 'info' : 'debug';
}
