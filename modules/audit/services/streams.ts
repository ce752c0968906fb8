/** The trail as server-sent events: every entry within reach once, in the order of their positions. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { type Context, errors, type Reply, reply } from '#core';
import type { StreamQuery } from '../models/audit-stream.ts';
import { shown } from './entries.ts';
import { FEED, type FeedHead } from './feed-head.ts';
import { COLUMNS, type Row, type Selection, select, whole } from './selection.ts';
import { dropLease, renewLease, takeLease } from './stream-leases.ts';

/** Positions looked through at a time, whoever's they are, and entries sent at a time. */
const WINDOW = 20_000;
const BATCH = 200;
const BEAT_MS = 15_000;
/** A reader that takes nothing for so long has to come again. */
const STALLED_MS = 60_000;

interface Following {
  stream: PassThrough;
  selection: Selection;
  head: FeedHead;
  lease: string;
  from: number;
  signal: AbortSignal;
}

/** Throws 403 for an organization out of reach, INVALID_CURSOR for a position that was never given, TOO_MANY_STREAMS. */
export async function follow(ctx: Context, query: StreamQuery, lastEventId = query.lastEventId): Promise<Reply> {
  const selection = select(ctx, query.orgId ? { orgId: query.orgId } : {});
  const head = ctx.platform.services.get(FEED) as FeedHead;
  const newest = await head.now();
  const from = lastEventId === undefined ? newest : Number(lastEventId);
  if (!/^\d{1,15}$/.test(lastEventId ?? '0') || from > newest)
    throw errors.InvalidCursor('This event id was not given by this trail');
  const lease = await takeLease(ctx);
  const stream = new PassThrough();
  const ended = new AbortController();
  stream.once('close', () => ended.abort());
  // The position goes out at once: whoever is cut off before the first entry then misses none.
  stream.write(`retry: 1000\nid: ${from}\n\n`);
  void feed(ctx, { stream, selection, head, lease, from, signal: ended.signal })
    .catch((error: Error) => {
      if (!ended.signal.aborted)
        ctx.log.warn({ err: error }, 'a stream of the audit trail broke; its reader can resume');
    })
    .finally(async () => {
      // What a stalled reader has not taken would keep the connection open.
      if (stream.writableNeedDrain) stream.destroy();
      else stream.end();
      await dropLease(ctx, lease).catch(() => undefined);
    });
  return reply(stream, {
    type: 'text/event-stream',
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    live: () => ended.abort(),
  });
}

async function feed(ctx: Context, { stream, selection, head, lease, from, signal }: Following): Promise<void> {
  let pos = from;
  let beatAt = Date.now();
  while (!signal.aborted) {
    const newest = await head.beyond(pos, BEAT_MS, signal);
    if (signal.aborted) return;
    let text = '';
    if (newest > pos) {
      const upTo = Math.min(newest, pos + WINDOW);
      const rows = await entriesBetween(ctx, selection, pos, upTo);
      text = rows.map(eventOf).join('');
      pos = rows.length === BATCH ? (rows.at(-1)?.pos ?? upTo) : upTo;
    }
    if (Date.now() - beatAt >= BEAT_MS) {
      // The id spares a reader who resumes from looking through other people's entries once more.
      text += `: beat\nid: ${pos}\n\n`;
      beatAt = Date.now();
      await renewLease(ctx, lease);
    }
    if (text && !stream.write(text)) {
      await once(stream, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(STALLED_MS)]) });
    }
  }
}

async function entriesBetween(ctx: Context, selection: Selection, after: number, upTo: number) {
  const { from, values } = whole(selection);
  const [low, high] = [values.length + 1, values.length + 2];
  const { rows } = await ctx.platform.asPlatform(ctx, (platform) =>
    platform.sql<Row & { pos: number }>(
      `select ${COLUMNS}, l.pos ${from} and l.pos > $${low} and l.pos <= $${high} order by l.pos limit ${BATCH}`,
      [...values, after, upTo],
    ),
  );
  return rows;
}

const eventOf = (row: Row & { pos: number }) =>
  `event: audit\nid: ${row.pos}\ndata: ${JSON.stringify({ ...shown(row), errorMessage: row.errorMessage })}\n\n`;
