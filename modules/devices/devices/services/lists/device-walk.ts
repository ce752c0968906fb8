/**
 * The position of a walk through the list of devices. A walk has two parts: first the requested order, then, by their ids, the
 * devices whose sort value has changed since the walk began. So a device that keeps its value is listed exactly once, one whose
 * value changes at least once, and the walk ends regardless of the number of changes.
 */
import { decodeCursor, encodeCursor, errors } from '#core';

export type Part = 'order' | 'moved';
export interface Position {
  part: Part;
  /** Null for a device without a value, and in the second part. */
  value: string | null;
  id: string;
  /** When the walk began, by the clock of this process. */
  begun: string;
  /** The transactions that were committed then: a snapshot of PostgreSQL. */
  snapshot: string;
}

/** A snapshot with many open transactions is replaced by one that only has the oldest: then moved rows may be listed twice. */
const MAX_SNAPSHOT_LENGTH = 400;
const SNAPSHOT = /^(\d{1,18}):\d{1,18}:[\d,]*$/;

export function positionAfter(order: string, position: Position): string {
  const { part, value, id, begun, snapshot } = position;
  const oldest = snapshot.split(':')[0];
  const kept = snapshot.length > MAX_SNAPSHOT_LENGTH ? `${oldest}:${oldest}:` : snapshot;
  return encodeCursor(order, [part, value, id, begun, kept]);
}

/** Throws INVALID_CURSOR for a cursor that this list did not issue; the database parses the values. */
export function positionOf(order: string, cursor: string): Position {
  const [part, value = null, id, begun, snapshot] = decodeCursor(order, cursor, 5);
  const known = part === 'order' || part === 'moved';
  if (!known || typeof id !== 'string' || typeof begun !== 'string' || typeof snapshot !== 'string') {
    throw errors.InvalidCursor();
  }
  if (!SNAPSHOT.test(snapshot) || typeof value === 'number') throw errors.InvalidCursor();
  return { part, value, id, begun, snapshot };
}

/**
 * The condition, with its values, for rows whose sort value has changed since the walk began: the value dates from then or later,
 * and the row was written by a transaction that had not committed then. Time alone is not enough: a heartbeat that arrived before
 * the walk began may be committed after.
 * @param at when the sort value last changed, at most five minutes behind the clock of this process
 * @param version the row's `xmin`
 */
export function moved(at: string, version: string, { begun, snapshot }: Position): [sql: string, ...values: unknown[]] {
  const oldest = BigInt(SNAPSHOT.exec(snapshot)?.[1] ?? 0);
  const short = String(oldest & 0xff_ff_ff_ffn);
  return [
    // A row has the lower 32 bits of its transaction id: age() compares these, the sum restores the others.
    `(${at} > (select ?::text::timestamptz - interval '5 minutes') and age(${version}) <= age(?::text::xid)
      and not pg_visible_in_snapshot(
        (?::text::bigint + (${version}::text::bigint - ?::text::bigint + 4294967296) % 4294967296)::text::xid8,
        ?::text::pg_snapshot)) is true`,
    begun,
    short,
    String(oldest),
    short,
    snapshot,
  ];
}
