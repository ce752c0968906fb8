/** Positions in the stream of events: transaction and sequence, in the cluster where they count (`events` in migrations/001-core.sql). */
import type { Context } from '../../context/index.ts';
import { CursorExpired, InvalidCursor } from '../../errors.ts';

export interface EventPosition {
  xid: bigint;
  seq: bigint;
}
export interface EventHorizon {
  cluster: string;
  /** All before it can be read, and nothing is still to come there. */
  upto: EventPosition;
  oldest: bigint;
}

const FORM = /^([0-9a-f]{12})-(\d{1,19})-(\d{1,19})$/;
const MAX_BIGINT = 0x7f_ff_ff_ff_ff_ff_ff_ffn;

export const isBehind = (a: EventPosition, b: EventPosition): boolean =>
  a.xid < b.xid || (a.xid === b.xid && a.seq < b.seq);

export async function eventHorizon(ctx: Context): Promise<EventHorizon> {
  const { rows } = await ctx.sql<{ cluster: string; upto: string; oldest: string | null }>(
    'select cluster, upto::text, oldest::text from sync_state(null, null, null, false)',
    [],
    'events-horizon',
  );
  const [row] = rows;
  return {
    cluster: row?.cluster ?? '',
    upto: { xid: BigInt(row?.upto ?? 0), seq: 0n },
    oldest: BigInt(row?.oldest ?? 0),
  };
}

export const encodeEventPosition = (cluster: string, { xid, seq }: EventPosition): string => `${cluster}-${xid}-${seq}`;

/** Throws INVALID_CURSOR for what was never given, CURSOR_EXPIRED where events behind it may be gone. */
export function decodeEventPosition({ cluster, upto, oldest }: EventHorizon, text: string): EventPosition {
  const [, from, xid, seq] = FORM.exec(text) ?? [];
  if (!from || !xid || !seq) throw InvalidCursor('This event id was not given by this stream');
  const position = { xid: BigInt(xid), seq: BigInt(seq) };
  if (position.xid > MAX_BIGINT || position.seq > MAX_BIGINT)
    throw InvalidCursor('This event id was not given by this stream');
  if (from !== cluster || position.xid < oldest || position.xid > upto.xid) {
    throw CursorExpired('Events since this id are not kept any more: start again');
  }
  return position;
}
