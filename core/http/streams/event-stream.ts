/** An answer of server-sent events: written as long as its reader takes them and its caller may have them. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Context } from '../../context/index.ts';
import { type Reply, reply } from '../reply.ts';

/** A reader that takes nothing for so long has to come again. */
const STALLED_MS = 60_000;

export interface EventSink {
  /** Resolves when more may be written; rejects once the reader has stalled. */
  send(text: string): Promise<void>;
  /** Aborted when the stream has to end, on either side. */
  readonly signal: AbortSignal;
}

/**
 * @param run writes until the signal comes; what it throws ends the stream, and the reader can resume
 * @param stalledMs how long a reader may take nothing
 */
export function eventStream(
  ctx: Context,
  run: (sink: EventSink) => Promise<void>,
  { stalledMs = STALLED_MS, onEnd = () => undefined }: { stalledMs?: number; onEnd?: () => void } = {},
): Reply {
  const stream = new PassThrough();
  const ended = new AbortController();
  const { signal } = ended;
  stream.once('close', () => ended.abort());
  const send = async (text: string) => {
    if (stream.destroyed || stream.write(text)) return;
    await once(stream, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(stalledMs)]) });
  };
  void run({ send, signal })
    .catch((error: Error) => {
      if (!signal.aborted) ctx.log.warn({ err: error }, 'a stream of events broke; its reader can resume');
    })
    .finally(() => {
      // What a stalled reader has not taken would keep the connection open.
      if (stream.writableNeedDrain) stream.destroy();
      else stream.end();
      onEnd();
    });
  return reply(stream, {
    type: 'text/event-stream',
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    live: () => ended.abort(),
  });
}
