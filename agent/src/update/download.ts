/** Fetches a program into a file, hashing it on the way; nothing of it is held in memory. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { send } from '../link/http.ts';
import { fileFault, UpdateFault } from './fault.ts';

/** No token goes along: the link may lead to another host. Throws UpdateFault and leaves no file then. */
export async function download(
  url: string,
  path: string,
  expected: { sha256: string; size: number },
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256');
  let size = 0;
  try {
    await pipeline(
      await opened(url, signal),
      async function* measured(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          size += chunk.length;
          if (size > expected.size) throw new UpdateFault('checksum_mismatch', 'the file is larger than announced');
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(path, { mode: 0o700, flags: 'w', flush: true }),
      { signal },
    );
    if (size < expected.size) throw new UpdateFault('download_failed', `only ${size} of ${expected.size} bytes came`);
    if (hash.digest('hex') !== expected.sha256) throw new UpdateFault('checksum_mismatch', 'the checksum differs');
  } catch (error) {
    await rm(path, { force: true });
    throw fileFault(error, 'download_failed');
  }
}

/** Release hosts redirect to where the file lies at the moment. */
const MAX_REDIRECTS = 5;

async function opened(url: string, signal: AbortSignal, redirects = 0): Promise<IncomingMessage> {
  const response = await send(url, { signal });
  const { statusCode = 0, headers } = response;
  if (statusCode === 200) return response;
  response.destroy();
  const { location } = headers;
  if (statusCode < 300 || statusCode >= 400 || !location || redirects === MAX_REDIRECTS) {
    throw new UpdateFault('download_failed', `${statusCode} for ${new URL(url).origin}`);
  }
  return opened(new URL(location, url).href, signal, redirects + 1);
}
