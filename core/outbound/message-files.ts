/** Keeps messages as files where no service is configured to send them. */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

let count = 0;

/**
 * Writes one message to its own file (mode 0600) whose name sorts by time. Returns the name without the ending.
 * File faults pass through.
 */
export async function writeMessageFile(folder: string, ending: string, content: string | Buffer): Promise<string> {
  count += 1;
  // The counter sorts messages of one millisecond; the random part separates processes.
  const order = String(count % 1_000_000).padStart(6, '0');
  const name = `${new Date().toISOString().replace(/[:.]/g, '-')}-${order}-${randomBytes(4).toString('hex')}`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, `${name}.${ending}`), content, { flag: 'wx', mode: 0o600 });
  return name;
}
