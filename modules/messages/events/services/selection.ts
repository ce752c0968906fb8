/** Which events a caller receives: those within reach that have one of the requested kinds, up to the last settled transaction. */
import { type Context, decodeEventPosition, type EventPosition, errors, eventHorizon, mustReachOrg } from '#core';
import { type EventFilter, EventRecord } from '../models/event-record.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Throws UNKNOWN_EVENT for unknown kinds, 403 or 404 for an organization out of reach. */
export function mustBeAskable(ctx: Context, { orgId, types }: EventFilter): void {
  if (orgId) mustReachOrg(ctx, orgId);
  if (types) ctx.use('webhooks').mustKnow(types, 'types');
}

export function eventsOf(ctx: Context, { orgId, types }: EventFilter) {
  const rows = EventRecord.in(ctx)
    .select('events.*')
    .whereNotNull('events.orgId')
    .whereRaw('events.name = any(?)', [ctx.use('webhooks').eventNames(types)])
    // A transaction that commits after an event was read is ordered after it.
    .whereRaw('events.xid < pg_snapshot_xmin(pg_current_snapshot())');
  for (const { sql, values } of types ? ctx.use('webhooks').narrowings(types) : [])
    rows.whereRaw(sql, values as string[]);
  if (orgId) rows.where('events.orgId', orgId);
  return rows;
}

export const after = ({ xid, seq }: EventPosition): [sql: string, values: string[]] => [
  '(events.xid, events.seq) > (?::text::xid8, ?::bigint)',
  [`${xid}`, `${seq}`],
];

/** Throws INVALID_CURSOR for an id that was never issued, CURSOR_EXPIRED for one that is too old. */
export async function positionOf(ctx: Context, lastEventId: string): Promise<EventPosition> {
  if (!UUID.test(lastEventId)) return decodeEventPosition(await eventHorizon(ctx), lastEventId);
  const event = await EventRecord.in(ctx).findById(lastEventId).select('xid', 'seq');
  if (!event) throw errors.CursorExpired('This event is no longer kept: start again');
  return { xid: BigInt(event.xid), seq: BigInt(event.seq) };
}
