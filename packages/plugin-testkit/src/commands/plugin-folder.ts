/** The folder of a plugin: its manifest, where its source lies, and what else goes into a package. */
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { checkManifest, type Fault, fitsApi, type Manifest } from '@quartermaster/plugin-sdk/host';

export interface PluginFolder {
  path: string;
  manifest: Manifest;
}
/** What a server would refuse. */
export class FolderFaults extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    super(faults.map(({ path, message }) => `  ${path}: ${message}`).join('\n'));
    this.faults = faults;
  }
}

/** Throws FolderFaults. */
export async function openFolder(place: string): Promise<PluginFolder> {
  const path = resolve(place);
  const file = join(path, 'plugin.json');
  if (!existsSync(file)) throw new FolderFaults([{ path: 'plugin.json', message: `is not there, in ${path}` }]);
  let given: unknown;
  try {
    given = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new FolderFaults([{ path: 'plugin.json', message: (error as Error).message }]);
  }
  const faults = checkManifest(given).map((one) => ({ ...one, path: `plugin.json: ${one.path}` }));
  if (faults.length > 0) throw new FolderFaults(faults);
  const manifest = given as Manifest;
  if (!fitsApi(manifest))
    throw new FolderFaults([{ path: 'plugin.json: engine.api', message: 'leaves out this version' }]);
  return { path, manifest };
}

/** The source of `main`: the file of its name below `src/`, else the file itself. Throws FolderFaults. */
export function sourceOf({ path, manifest: { main } }: PluginFolder): string {
  const name = basename(main, extname(main));
  const places = ['ts', 'mts', 'js', 'mjs'].map((ending) => join(path, 'src', `${name}.${ending}`));
  const found = [...places, join(path, main)].find((one) => existsSync(one));
  if (found) return found;
  throw new FolderFaults([{ path: 'plugin.json: main', message: `there is neither src/${name}.ts nor ${main}` }]);
}

/** What goes into a package beside the manifest and the bundle. */
export async function extrasOf({ path }: PluginFolder): Promise<string[]> {
  const found: string[] = [];
  for await (const one of glob(['README.md', 'LICENSE*', 'CHANGELOG.md', 'assets/**'], {
    cwd: path,
    withFileTypes: true,
  })) {
    if (!one.isDirectory()) found.push(join(one.parentPath, one.name).slice(path.length + 1));
  }
  return found.map((one) => one.replaceAll('\\', '/')).sort();
}
