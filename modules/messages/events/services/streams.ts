/** GET /events: events within reach as they happen, each once and in order, from where the reader stopped. */
import {
  type Context,
  type EventPosition,
  type EventSink,
  encodeEventPosition,
  errors,
  eventHorizon,
  eventStream,
  type Reply,
} from '#core';
import type { EventFilter } from '../models/event-record.ts';
import { type EventFeed, FEED, textOf } from './event-feed.ts';
import { messageOf } from './histories.ts';
import { after, eventsOf, mustBeAskable, positionOf } from './selection.ts';

/** Streams of one tenant in one process. */
const MAX_STREAMS = 20;
const BATCH = 200;
const PING_MS = 15_000;

const tenantOf = ({ scope }: Context) =>
  scope.orgId ? `org:${scope.orgId}` : scope.partnerId ? `partner:${scope.partnerId}` : 'platform';

/** Throws what the filter throws, INVALID_CURSOR and CURSOR_EXPIRED for an id, TOO_MANY_STREAMS. */
export async function follow(ctx: Context, filter: EventFilter, lastEventId = filter.lastEventId): Promise<Reply> {
  mustBeAskable(ctx, filter);
  const feed = ctx.services.get(FEED);
  const { cluster, from } = await ctx.asCaller(async (inner) => {
    const horizon = await eventHorizon(inner);
    return {
      cluster: horizon.cluster,
      from: lastEventId ? await positionOf(inner, lastEventId) : horizon.upto,
    };
  });
  const leave = feed.join(tenantOf(ctx), MAX_STREAMS);
  if (!leave) throw errors.TooManyStreams();
  return eventStream(ctx, (sink) => write(ctx, filter, { feed, cluster, from, sink }), { onEnd: leave });
}

interface Following {
  feed: EventFeed;
  cluster: string;
  from: EventPosition;
  sink: EventSink;
}

async function write(ctx: Context, filter: EventFilter, { feed, cluster, from, sink }: Following): Promise<void> {
  const { signal } = sink;
  const wanted = {
    scope: ctx.scope,
    orgId: filter.orgId,
    names: new Set(ctx.use('webhooks').eventNames(filter.types)),
    asked: (kind: string) => !filter.types || ctx.use('webhooks').isAmong(kind, filter.types),
  };
  let position = from;
  const here = () => `id: ${encodeEventPosition(cluster, position)}\n`;
  // The position is sent immediately, so that a reader who disconnects before the first event misses none.
  await sink.send(`retry: 1000\n${here()}\n`);
  let pingAt = Date.now() + PING_MS;
  while (!signal.aborted) {
    const { text, upTo } = feed.after(position, wanted) ?? (await read(ctx, filter, cluster, position));
    position = upTo;
    if (text) await sink.send(text);
    else if (Date.now() < pingAt) await feed.next(pingAt - Date.now(), signal);
    if (signal.aborted || Date.now() < pingAt) continue;
    // With this id a reader who resumes need not scan the events of other tenants again.
    await sink.send(`: ping\n${here()}\n`);
    pingAt = Date.now() + PING_MS;
  }
}

/** For readers who are further behind than the feed reaches. */
async function read(ctx: Context, filter: EventFilter, cluster: string, position: EventPosition) {
  return ctx.asCaller(async (inner) => {
    const { upto } = await eventHorizon(inner);
    const rows = await eventsOf(inner, filter)
      .whereRaw(...after(position))
      .whereRaw('events.xid < ?::text::xid8', [`${upto.xid}`])
      .orderByRaw('events.xid, events.seq')
      .limit(BATCH);
    const placed = rows.map((row) => ({ at: { xid: BigInt(row.xid), seq: BigInt(row.seq) }, row }));
    const last = placed.at(-1);
    return {
      text: placed.map(({ at, row }) => textOf(cluster, at, messageOf(inner, row) ?? {})).join(''),
      upTo: rows.length === BATCH && last ? last.at : upto,
    };
  });
}
