/** GET /events/history: the stored events in order. */
import { type Context, type DomainEvent, page, type SortKey } from '#core';
import type { EventRecord, HistoryQuery } from '../models/event-record.ts';
import { after, eventsOf, mustBeAskable, positionOf } from './selection.ts';

/** Throws what the filter throws, and CURSOR_EXPIRED for an id that is too old. */
export async function listHistory(ctx: Context, query: HistoryQuery) {
  mustBeAskable(ctx, query);
  const rows = eventsOf(ctx, query);
  if (query.correlationId) rows.where('events.correlationId', query.correlationId);
  if (query.lastEventId) rows.whereRaw(...after(await positionOf(ctx, query.lastEventId)));
  const keys = (['xid', 'seq'] as const).map<SortKey>((column) => ({
    expression: `events.${column}`,
    direction: query.sortDir,
    type: column === 'xid' ? 'xid8' : 'bigint',
  }));
  return page(rows, query, { name: `events-${query.sortDir}`, keys }, (row) => messageOf(ctx, row));
}

export const messageOf = (ctx: Context, row: EventRecord) => ctx.use('webhooks').messageOf(eventOf(row));

const eventOf = ({
  id,
  name,
  orgId,
  siteId,
  deviceId,
  occurredAt,
  actor,
  data,
  ...rest
}: EventRecord): DomainEvent => ({
  ...{ id, name, orgId, siteId, deviceId, actor, data },
  occurredAt: occurredAt.toISOString(),
  // One from before causation was recorded stands alone.
  correlationId: rest.correlationId ?? id,
  ...{ causationId: rest.causationId, depth: rest.depth, by: rest.causedBy },
});
