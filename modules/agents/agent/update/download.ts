/** Fetches a program into a file, hashing it on the way; nothing of it is held in memory. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
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
    const response = await fetch(url, { signal });
    if (!response.ok || !response.body) throw new UpdateFault('download_failed', `${response.status} for ${url}`);
    await pipeline(
      Readable.fromWeb(response.body as import('node:stream/web').ReadableStream),
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
