/** Makes chunks the body of an answer, which is aborted when its reader reads nothing for too long. */
import { Readable } from 'node:stream';
import type { Context } from '#core';
import { DeviceTimeout } from '../../errors.ts';
import { waitMsOf } from '../calls/requests.ts';

/** Pieces are so small that the progress of a slow reader is noticed. */
const PIECE_BYTES = 64 * 1024;

/** @param make returns the chunks; its signal is aborted when the answer is closed for any reason. */
export function streamOf(ctx: Context, make: (signal: AbortSignal) => AsyncIterable<Buffer>): Readable {
  const closed = new AbortController();
  const waitMs = waitMsOf(ctx);
  let givenAt = Number.POSITIVE_INFINITY;
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const chunk of make(closed.signal)) {
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        givenAt = performance.now();
        yield chunk.subarray(from, from + PIECE_BYTES);
      }
      // From here on the stream waits for the other end.
      givenAt = Number.POSITIVE_INFINITY;
    }
  }
  const stream = Readable.from(pieces(), { objectMode: false, highWaterMark: PIECE_BYTES });
  const watch = setInterval(() => {
    if (performance.now() - givenAt > waitMs) stream.destroy(DeviceTimeout('The client read nothing for too long'));
  }, 1_000).unref();
  stream.once('close', () => {
    clearInterval(watch);
    closed.abort();
  });
  return stream;
}
