/** Stores events of the operating system: counted by event id, or as single entries where they have none. */
import { hash } from 'node:crypto';
import type { Context } from '#core';
import type { ReceivedEvent } from '../models/event-log.ts';
import { callingDevice } from './agent-logs.ts';
import { clockOf, type Instant } from './clocks.ts';
import { takeTurn } from './quotas.ts';
import { redactLine, redactMetadata } from './redactions.ts';

const ROWS_PER_STATEMENT = 100;

interface EventRow extends Instant {
  level: string;
  category: string;
  source: string;
  eventId: string | null;
  message: string;
  details: string | null;
}
interface Counted {
  first: EventRow;
  last: EventRow;
  /** By the time that the device reports: the same time twice is one occurrence. */
  occurrences: Map<string, EventRow>;
}

// An occurrence is new when its reported time is after that of the last counted one. If the clock of either is wrong, their order
// means nothing, and only the same time is the same occurrence.
const isNew = (occurred: string, reported: string) => `(${reported} > e.last_reported_at
  or ${reported} <> e.last_reported_at and (${occurred} <> ${reported} or e.last_occurred_at <> e.last_reported_at))`;
// `more` has the occurrences of events that are several times in one body; some of them may have been counted before.
// reach: the agent's own device, which its token names
const COUNT = `
with more as materialized (
  select * from unnest($13::text[], $14::text[], $15::timestamptz[], $16::timestamptz[]) m (source, event_id, occurred, reported)
)
insert into device_event_logs as e (device_id, org_id, timestamp, reported_at, level, category, source, event_id, message,
  details, occurrence_count, last_occurred_at, last_reported_at)
select d.id, d.org_id, r.* from devices d cross join unnest($2::timestamptz[], $3::timestamptz[], $4::text[], $5::text[],
  $6::text[], $7::text[], $8::text[], $9::jsonb[], $10::int[], $11::timestamptz[], $12::timestamptz[]) r where d.id = $1
on conflict (device_id, source, event_id) do update set
  occurrence_count = e.occurrence_count + case when excluded.occurrence_count = 1 then 1 else (
    select count(*)::int from more m where m.source = excluded.source and m.event_id = excluded.event_id
      and ${isNew('m.occurred', 'm.reported')}) end,
  last_occurred_at = greatest(e.last_occurred_at, excluded.last_occurred_at),
  last_reported_at = excluded.last_reported_at
where ${isNew('excluded.last_occurred_at', 'excluded.last_reported_at')}
returning (xmax = 0) as inserted`;

// Agents repeat a body soon or never, so two days (three partitions) are enough to find duplicates.
// reach: the agent's own device, which its token names
const KEEP = `
insert into device_event_entries (device_id, org_id, timestamp, reported_at, level, category, source, message, details, digest)
select d.id, d.org_id, r.* from devices d cross join unnest($2::timestamptz[], $3::timestamptz[], $4::text[], $5::text[],
  $6::text[], $7::text[], $8::jsonb[], $9::bigint[]) r (at, said, level, category, source, message, details, digest)
where d.id = $1 and not exists (select from device_event_entries x
  where x.device_id = $1 and x.digest = r.digest and x.created_at > now() - interval '2 days')`;

/**
 * Stores the new events of a body; `count` is the number of inserted rows. An event with a known id counts as one more
 * occurrence. Throws RATE_LIMITED above the hourly quota, and NOT_FOUND for a device that no longer exists.
 */
export async function submitEvents(ctx: Context, events: ReceivedEvent[]): Promise<{ success: true; count: number }> {
  const deviceId = callingDevice(ctx);
  const clock = clockOf(events.length);
  const rows = events.map((event, index) => toRow(event, clock(event.timestamp, index)));
  if (rows.length > 0) await takeTurn(ctx, deviceId, rows.length);
  const counted = [...countById(rows).values()];
  const single = [...new Map(rows.filter((row) => row.eventId === null).map((row) => [digestOf(row), row]))];
  let count = 0;
  let repeated = 0;
  for (let from = 0; from < counted.length; from += ROWS_PER_STATEMENT) {
    const written = await writeCounted(ctx, deviceId, counted.slice(from, from + ROWS_PER_STATEMENT));
    count += written.inserted;
    repeated += written.repeated;
  }
  for (let from = 0; from < single.length; from += ROWS_PER_STATEMENT) {
    count += await writeSingle(ctx, deviceId, single.slice(from, from + ROWS_PER_STATEMENT));
  }
  if (count + repeated === 0) ctx.unchanged();
  else {
    const details = { submitted: rows.length, inserted: count, repeated };
    ctx.audit('agent.eventlogs.submit', { resourceType: 'device', resourceId: deviceId, details });
  }
  return { success: true, count };
}

function toRow(event: ReceivedEvent, instant: Instant): EventRow {
  const { level = 'info', category = 'application', source, eventId, message, details } = event;
  return {
    ...instant,
    level,
    category,
    source,
    eventId: eventId || null,
    message: redactLine(message),
    details: redactMetadata(details),
  };
}

function countById(rows: EventRow[]): Map<string, Counted> {
  const byId = new Map<string, Counted>();
  for (const row of rows) {
    if (row.eventId === null) continue;
    const key = `${row.source}\0${row.eventId}`;
    const known = byId.get(key);
    if (!known) {
      byId.set(key, { first: row, last: row, occurrences: new Map([[row.said, row]]) });
      continue;
    }
    known.occurrences.set(row.said, row);
    if (row.said < known.first.said) known.first = row;
    if (row.said > known.last.said) known.last = row;
  }
  return byId;
}

/** Identifies an event within a device; a signed 64-bit number. */
function digestOf({ said, level, category, source, message }: EventRow): bigint {
  const digest = hash('sha256', JSON.stringify([said, level, category, source, message]), 'hex');
  return BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`));
}

/** The columns that both tables share, each as an array. */
const columns = (rows: EventRow[]) => [
  rows.map(({ at }) => at),
  rows.map(({ at, said }) => (at === said ? null : said)),
  rows.map(({ level }) => level),
  rows.map(({ category }) => category),
  rows.map(({ source }) => source),
];

async function writeCounted(ctx: Context, deviceId: string, counted: Counted[]) {
  const first = counted.map((one) => one.first);
  const several = counted.filter(({ occurrences }) => occurrences.size > 1);
  const more = several.flatMap(({ occurrences }) => [...occurrences.values()]);
  const { rows } = await ctx.sql<{ inserted: boolean }>(
    COUNT,
    [
      deviceId,
      ...columns(first),
      first.map(({ eventId }) => eventId),
      first.map(({ message }) => message),
      first.map(({ details }) => details),
      counted.map(({ occurrences }) => occurrences.size),
      counted.map(({ last }) => last.at),
      counted.map(({ last }) => last.said),
      more.map(({ source }) => source),
      more.map(({ eventId }) => eventId),
      more.map(({ at }) => at),
      more.map(({ said }) => said),
    ],
    'device-logs-count',
  );
  const inserted = rows.filter((row) => row.inserted).length;
  return { inserted, repeated: rows.length - inserted };
}

async function writeSingle(ctx: Context, deviceId: string, single: [bigint, EventRow][]): Promise<number> {
  const rows = single.map(([, row]) => row);
  const { rowCount } = await ctx.sql(
    KEEP,
    [
      deviceId,
      ...columns(rows),
      rows.map(({ message }) => message),
      rows.map(({ details }) => details),
      single.map(([digest]) => String(digest)),
    ],
    'device-logs-keep',
  );
  return rowCount ?? 0;
}
