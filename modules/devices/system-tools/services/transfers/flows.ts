/** Chunks as the body of an answer, which ends when its reader takes nothing for too long. */
import { Readable } from 'node:stream';
import type { Context } from '#core';
import { DeviceTimeout } from '../../errors.ts';
import { waitMsOf } from '../calls/orders.ts';

/** Handed on in pieces so small that also a slow reader is seen to move. */
const PIECE_BYTES = 64 * 1024;

/** @param make gives the chunks; its signal is aborted when the answer has closed, for whatever reason. */
export function flowOf(ctx: Context, make: (signal: AbortSignal) => AsyncIterable<Buffer>): Readable {
  const closed = new AbortController();
  const waitMs = waitMsOf(ctx);
  let givenAt = Number.POSITIVE_INFINITY;
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const chunk of make(closed.signal)) {
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        givenAt = performance.now();
        yield chunk.subarray(from, from + PIECE_BYTES);
      }
      // From here on it is the other end that is waited for.
      givenAt = Number.POSITIVE_INFINITY;
    }
  }
  const stream = Readable.from(pieces(), { objectMode: false, highWaterMark: PIECE_BYTES });
  const watch = setInterval(() => {
    if (performance.now() - givenAt > waitMs) stream.destroy(DeviceTimeout('Nobody took it for too long'));
  }, 1_000).unref();
  stream.once('close', () => {
    clearInterval(watch);
    closed.abort();
  });
  return stream;
}
