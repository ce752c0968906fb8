/** Finds the commands: each file of app/commands is one, under the name of the file. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from './command.ts';

const FOLDER = join(import.meta.dirname, '../commands');

/** In the order of their names. */
export async function findCommands(folder = FOLDER): Promise<ReadonlyMap<string, Command>> {
  // Not asynchronous: that would size the thread pool before the configuration of `start` is read.
  const files = readdirSync(folder)
    .filter((file) => /^[a-z-]+\.ts$/.test(file))
    .sort();
  const commands = await Promise.all(
    files.map(async (file): Promise<[string, Command]> => {
      const { default: command } = (await import(pathToFileURL(join(folder, file)).href)) as { default: Command };
      return [file.slice(0, -'.ts'.length), command];
    }),
  );
  return new Map(commands);
}
