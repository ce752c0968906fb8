/** Reads the body of an answer: bounded, decompressed, or handed on piece by piece. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { UpstreamError } from './upstream-error.ts';

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The body as sent, of at most `maxBytes`; throws `UpstreamError` (`too_large`), at once when it was announced. */
export async function readBody(
  stream: AsyncIterable<Uint8Array> & { destroy(): unknown; on(event: 'error', listener: () => void): unknown },
  announced: number,
  maxBytes: number,
  sink?: (chunk: Uint8Array) => void,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (announced > maxBytes) {
    stream.on('error', () => undefined);
    stream.destroy();
    throw tooLarge();
  }
  for await (const chunk of stream) {
    length += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (length > maxBytes) throw tooLarge();
    if (sink) sink(chunk);
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What goes to a sink is hashed or kept as it comes. */
export function mustBePlain({ headers, body }: Dispatcher.ResponseData): void {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding === 'identity' || coding === '') return;
  body.on('error', () => undefined).destroy();
  throw new UpstreamError('decode', 'The response is compressed although this was not asked for');
}

/** The body without its content coding, of at most `maxBytes`; one coding only, so that none hides in another. */
export async function decodeBody(
  body: Buffer,
  coding: string | string[] | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const name = String(coding ?? 'identity')
    .trim()
    .toLowerCase();
  if (body.length === 0 || name === 'identity' || name === '') return body;
  if (!isKnown(name)) throw new UpstreamError('decode', 'The response is compressed in an unknown way');
  try {
    return await decoders[name](body, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new UpstreamError('decode', 'The response could not be decompressed', error);
  }
}

function isKnown(name: string): name is keyof typeof decoders {
  return Object.hasOwn(decoders, name);
}

function tooLarge(): UpstreamError {
  return new UpstreamError('too_large', 'The response is too large');
}
