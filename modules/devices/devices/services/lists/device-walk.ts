/**
 * Where a walk through the list of devices stands. A walk has two parts: first the order that was asked for, then, by their
 * ids, the devices whose sort value has changed since the walk began. So a device that keeps its value comes exactly once, one
 * whose value changes at least once, and the walk ends however much changes.
 */
import { decodeCursor, encodeCursor, errors } from '#core';

export type Part = 'order' | 'moved';
export interface Position {
  part: Part;
  /** Null for a device without a value, and in the second part. */
  value: string | null;
  id: string;
  /** When the walk began, by our clock. */
  begun: string;
  /** What the database had committed then. */
  snapshot: string;
}

/** A snapshot that lists many open transactions makes way for one that knows only the oldest: moved rows may come twice. */
const LONGEST = 400;
const SNAPSHOT = /^(\d{1,18}):\d{1,18}:[\d,]*$/;

export function positionAfter(order: string, position: Position): string {
  const { part, value, id, begun, snapshot } = position;
  const oldest = snapshot.split(':')[0];
  const kept = snapshot.length > LONGEST ? `${oldest}:${oldest}:` : snapshot;
  return encodeCursor(order, [part, value, id, begun, kept]);
}

/** Throws INVALID_CURSOR for anything this list did not issue; values are left for the database to read. */
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
 * Condition, with its values, on rows whose sort value has changed since the walk began: the value is of that time, and the row
 * was written by a transaction that had not committed then. Time alone would not do: a heartbeat that arrived before the walk
 * began may be committed after.
 * @param at when the sort value last changed, at most five minutes behind our clock
 * @param version the row's `xmin`
 */
export function moved(at: string, version: string, { begun, snapshot }: Position): [sql: string, ...values: unknown[]] {
  const oldest = BigInt(SNAPSHOT.exec(snapshot)?.[1] ?? 0);
  const short = String(oldest & 0xff_ff_ff_ffn);
  return [
    // A row knows the lower 32 bits of its transaction: age() compares those, the sum restores the others.
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
