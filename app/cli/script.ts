/** Runs a program of this repository that reads its own arguments, in this process. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '../..');

/** @param file from the root of the repository; it runs when it is imported, and ends the process itself */
export async function runScript(file: string, args: readonly string[]): Promise<null> {
  const path = join(ROOT, file);
  process.argv.splice(1, Number.POSITIVE_INFINITY, path, ...args);
  await import(pathToFileURL(path).href);
  return null;
}
