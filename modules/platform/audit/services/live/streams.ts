/** The trail as server-sent events: every entry within reach once, in the order of positions. */
import { type Context, type EventSink, errors, eventStream, type Reply } from '#core';
import type { StreamQuery } from '../../models/audit-stream.ts';
import { shown } from '../reading/entries.ts';
import { COLUMNS, type EntryRow, type Selection, select, whole } from '../reading/selection.ts';
import { FEED, type FeedHead } from './feed-head.ts';
import { dropLease, renewLease, takeLease } from './stream-leases.ts';

/** Positions scanned at a time, of any tenant, and entries sent at a time. */
const WINDOW = 20_000;
const BATCH = 200;
const KEEP_ALIVE_MS = 15_000;

interface Following {
  selection: Selection;
  head: FeedHead;
  lease: string;
  from: number;
  sink: EventSink;
}

/** Throws 403 for an organization out of reach, INVALID_CURSOR for a position that was never issued, TOO_MANY_STREAMS. */
export async function follow(ctx: Context, query: StreamQuery, lastEventId = query.lastEventId): Promise<Reply> {
  const selection = select(ctx, query.orgId ? { orgId: query.orgId } : {});
  const head = ctx.services.get(FEED);
  const newest = await head.now();
  const from = lastEventId === undefined ? newest : Number(lastEventId);
  if (!/^\d{1,15}$/.test(lastEventId ?? '0') || from > newest)
    throw errors.InvalidCursor('This event id was not given by this trail');
  const lease = await takeLease(ctx);
  return eventStream(ctx, (sink) => feed(ctx, { selection, head, lease, from, sink }), {
    onEnd: () => void dropLease(ctx, lease).catch(() => undefined),
  });
}

async function feed(ctx: Context, { selection, head, lease, from, sink }: Following): Promise<void> {
  const { signal } = sink;
  // The position is sent immediately, so that a reader who disconnects before the first entry misses none.
  await sink.send(`retry: 1000\nid: ${from}\n\n`);
  let pos = from;
  let sentAt = Date.now();
  while (!signal.aborted) {
    const newest = await head.beyond(pos, KEEP_ALIVE_MS, signal);
    if (signal.aborted) return;
    let text = '';
    if (newest > pos) {
      const upTo = Math.min(newest, pos + WINDOW);
      const rows = await entriesBetween(ctx, selection, pos, upTo);
      text = rows.map(eventOf).join('');
      pos = rows.length === BATCH ? (rows.at(-1)?.pos ?? upTo) : upTo;
    }
    if (Date.now() - sentAt >= KEEP_ALIVE_MS) {
      // With this id a reader who resumes need not scan the entries of other tenants again.
      text += `: keep-alive\nid: ${pos}\n\n`;
      sentAt = Date.now();
      await renewLease(ctx, lease);
    }
    if (text) await sink.send(text);
  }
}

async function entriesBetween(ctx: Context, selection: Selection, after: number, upTo: number) {
  const { from, values } = whole(selection);
  const [low, high] = [values.length + 1, values.length + 2];
  const { rows } = await ctx.asPlatform((platform) =>
    platform.sql<EntryRow & { pos: number }>(
      `select ${COLUMNS}, l.pos ${from} and l.pos > $${low} and l.pos <= $${high} order by l.pos limit ${BATCH}`,
      [...values, after, upTo],
    ),
  );
  return rows;
}

const eventOf = (row: EntryRow & { pos: number }) =>
  `event: audit\nid: ${row.pos}\ndata: ${JSON.stringify({ ...shown(row), errorMessage: row.errorMessage })}\n\n`;
