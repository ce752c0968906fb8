/** Event logs out of the journal: the whole of it, the kernel's part, logins, and each unit by itself. */
import type { EventItem, EventLogItem } from '#agent-protocol';
import { type EventLogs, type EventQuery, ToolError } from '../../contract.ts';
import { type Ask, complaintOf } from '../ask.ts';
import {
  detailsOf,
  ITEM_FIELDS,
  type JournalEntry,
  parseEntries,
  prioritiesOf,
  timeOfEntry,
  toItem,
} from './journal-entry.ts';

/** Entries that one question may reach back: the journal has no pages, all before the page is read too. */
const DEEPEST = 10_000;
const MOST_UNITS = 1_000;

interface Part {
  title: string;
  /** Fields that an entry must have; of the same field one value suffices. */
  match: readonly string[];
}
const PARTS: Readonly<Record<string, Part>> = {
  system: { title: 'The whole journal', match: [] },
  kernel: { title: 'Kernel', match: ['_TRANSPORT=kernel'] },
  auth: { title: 'Logins and rights', match: ['SYSLOG_FACILITY=4', 'SYSLOG_FACILITY=10'] },
};
const UNIT = /^[\w.@:\\$-]{1,240}\.(service|socket|timer|mount|scope|slice|target|path|swap|device|automount)$/;

export function journalLogs(ask: Ask): EventLogs {
  return {
    async list(signal) {
      const parts = await Promise.all(
        Object.entries(PARTS).map(async ([name, { title }]): Promise<EventLogItem> => {
          const [last] = await readJournal(['--lines=1', ...argumentsOf(name)], ask, signal);
          return itemOf(name, title, (last && timeOfEntry(last)) ?? null);
        }),
      );
      const { stdout } = await ask('journalctl', ['--no-pager', '--field=_SYSTEMD_UNIT'], { signal });
      const units = stdout.split('\n').filter((name) => UNIT.test(name));
      return [
        ...parts,
        ...units
          .sort()
          .slice(0, MOST_UNITS)
          .map((name) => itemOf(name, name, null)),
      ];
    },
    async query(log, query, signal) {
      const deepest = query.page * query.limit;
      if (deepest > DEEPEST)
        throw new ToolError('INVALID', `only ${DEEPEST} events can be paged through; name a time instead`);
      const filters = [...argumentsOf(log), ...filtersOf(query)];
      const found = await readJournal(['--reverse', `--lines=${deepest}`, ...filters], ask, signal);
      const items = found.map(toItem).filter((item) => item !== undefined);
      return { items: items.slice(deepest - query.limit), total: found.length < deepest ? items.length : null };
    },
    async event(log, recordId, signal) {
      const at = microsecondsOf(recordId);
      if (at === undefined) throw new ToolError('INVALID', 'this is not the id of an event');
      const instant = `@${at.slice(0, -6)}.${at.slice(-6)}`;
      // By its time, and not by --cursor: what that means together with --lines differs between versions.
      const args = [`--since=${instant}`, `--until=${instant}`, ...argumentsOf(log)];
      const entries = await readJournal(args, ask, signal, false);
      const entry = entries.find(({ __CURSOR }) => __CURSOR === recordId);
      const item: EventItem | undefined = entry && toItem(entry);
      if (!entry || !item) throw new ToolError('NOT_FOUND', 'there is no such event in this log any more');
      return { ...item, details: detailsOf(entry) };
    },
  };
}

/** Entries that fit the arguments; with `brief` only the fields that lists need. */
export async function readJournal(
  args: readonly string[],
  ask: Ask,
  signal: AbortSignal,
  brief = true,
): Promise<JournalEntry[]> {
  const fields = brief ? [`--output-fields=${ITEM_FIELDS.join(',')}`] : [];
  const usual = ['--output=json', '--all', '--no-pager', '--quiet', ...fields];
  const answer = await ask('journalctl', [...usual, ...args], { signal });
  // Where nothing fits, some versions end with 1 and say nothing.
  if (answer.code !== 0 && answer.stderr.trim() !== '') {
    const complaint = complaintOf('journalctl', answer);
    throw /permission|insufficient/i.test(complaint) ? new ToolError('DENIED', complaint) : new Error(complaint);
  }
  return parseEntries(answer.stdout);
}

/** Which entries belong to a log. Throws NOT_FOUND for a name that is none. */
function argumentsOf(log: string): string[] {
  const part = Object.entries(PARTS).find(([name]) => name === log.toLowerCase())?.[1];
  if (part) return [...part.match];
  if (!UNIT.test(log)) throw new ToolError('NOT_FOUND', `there is no log ${log}`);
  return [`--unit=${log}`];
}

function filtersOf({ level, source, startTime, endTime, eventId }: EventQuery): string[] {
  return [
    ...(level ? [`--priority=${prioritiesOf(level)}`] : []),
    ...(source ? [`--identifier=${source}`] : []),
    ...(startTime ? [`--since=@${Date.parse(startTime) / 1000}`] : []),
    ...(endTime ? [`--until=@${Date.parse(endTime) / 1000}`] : []),
    ...(eventId ? [`MESSAGE_ID=${eventId}`] : []),
  ];
}

/** A cursor names, among others, the time of its entry: `t=` and hexadecimal microseconds. */
function microsecondsOf(cursor: string): string | undefined {
  const hex = /(?:^|;)t=([0-9a-f]{1,14})(?:;|$)/.exec(cursor)?.[1];
  return hex === undefined ? undefined : BigInt(`0x${hex}`).toString().padStart(7, '0');
}

function itemOf(name: string, displayName: string, lastWriteTime: string | null): EventLogItem {
  return { name, displayName, recordCount: null, maxSize: null, retentionDays: null, lastWriteTime };
}
