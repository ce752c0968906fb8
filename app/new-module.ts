/** Makes a new module from the example: `modules/examples/notes` under another name. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UsageError } from './cli/command.ts';

const ROOT = join(import.meta.dirname, '..');
const EXAMPLE = join(ROOT, 'modules/examples/notes');
const NAME = /^([a-z][a-z-]*)\/([a-z]{3,40})$/;

/**
 * Copies the example to `<modules>/<group>/<name>` with its words replaced. Returns the paths of the new files.
 * Throws UsageError for a name that cannot be used, and when the module exists.
 * @param place `group/name`; the name is one plural word, such as `bookmarks`
 */
export async function newModule(place: string, modules = join(ROOT, 'modules')): Promise<string[]> {
  const [, group = '', name = ''] = NAME.exec(place) ?? [];
  if (!name.endsWith('s')) {
    throw new UsageError(`"${place}" must be a group and one plural word in lower case: devices/bookmarks`);
  }
  const folder = join(modules, group, name);
  if (existsSync(folder)) throw new UsageError(`${folder} exists already`);
  const rename = renamer(name);
  const files = (await readdir(EXAMPLE, { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile() && !entry.name.startsWith('.'),
  );
  const written: string[] = [];
  for (const entry of files) {
    const source = join(entry.parentPath, entry.name);
    const target = join(folder, rename(source.slice(EXAMPLE.length + 1)));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, rename(await readFile(source, 'utf8')), { flag: 'wx' });
    written.push(target);
  }
  return written;
}

/** Replaces note and notes, in every case, by the singular and the plural of the new name. */
function renamer(plural: string): (text: string) => string {
  const singular = plural.slice(0, -1);
  return (text) =>
    text.replace(/note(s?)/gi, (found, s: string) => {
      const word = s ? plural : singular;
      if (found === found.toUpperCase()) return word.toUpperCase();
      return found.startsWith('N') ? word.charAt(0).toUpperCase() + word.slice(1) : word;
    });
}
