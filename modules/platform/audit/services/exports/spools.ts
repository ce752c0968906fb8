/** An unlinked file, written in the transaction and sent after it: slow readers hold no connection. */
import { mkdtemp, open, rmdir, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** Destroying the stream frees the disk space, and so does the end of the process. */
export async function spool(write: (put: (text: string) => Promise<void>) => Promise<void>): Promise<Readable> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-export-'));
  const path = join(folder, 'rows');
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    await rmdir(folder);
    await write(async (text) => {
      await file.appendFile(text);
    });
    return file.createReadStream({ start: 0 });
  } catch (error) {
    await file.close();
    throw error;
  }
}
