/** Finds modules and what lies in their folders; a fault names the file. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyJob, AnyRoute, AnySubscriber, Filling, Module, OperationExample } from '../contract/index.ts';

export class LoadError extends Error {
  override name = 'LoadError';
}

/** What a file of a module declares. */
export interface Found<T> {
  file: string;
  /** The path of the file within its room, without its ending: `patches/scan`. */
  name: string;
  value: T;
}
export interface LoadedModule {
  module: Module;
  folder: string;
  routes: Found<AnyRoute>[];
  jobs: Found<AnyJob>[];
  subscribers: Found<AnySubscriber>[];
  fillings: Found<Filling>[];
  migrations: string;
  /** Where the module came from, when from a module package. */
  package?: PackagePlace;
  /** Recorded examples of its operations, by method and path. */
  examples: Record<string, OperationExample>;
}
/** Modules in one group; more would no longer be found at a glance. */
const MAX_MODULES_IN_GROUP = 12;
const ROOMS = { routes: 'routes', jobs: 'jobs', subscribers: 'subscribers', slots: 'slots' } as const;
export interface PackagePlace {
  name: string;
  /** What the names that it makes begin with. */
  prefix: string;
}

/** The path of a file within its room, without its ending: TypeScript here, JavaScript in what was built. */
const nameIn = (room: string, file: string): string =>
  relative(room, file)
    .replaceAll(sep, '/')
    .replace(/\.[jt]s$/, '');
/** What compilers and editors leave beside code: declarations, source maps, tests and hidden files. */
const isBesideCode = (name: string) => /\.(d\.[jt]s|test\.[jt]s|map)$/.test(name) || basename(name).startsWith('.');
const isCode = (name: string) => /\.[jt]s$/.test(name);
export const manifestOf = (folder: string): string | undefined =>
  ['index.ts', 'index.js'].map((name) => join(folder, name)).find((file) => existsSync(file));

async function readDefault<T>(file: string): Promise<T> {
  let loaded: { default?: T };
  try {
    loaded = (await import(pathToFileURL(file).href)) as { default?: T };
  } catch (error) {
    throw new LoadError(`${file} cannot be loaded: ${(error as Error).message}`, { cause: error });
  }
  if (loaded.default === undefined) throw new LoadError(`${file} has no default export`);
  return loaded.default;
}

async function readRoom<T>(folder: string, room: string): Promise<Found<T>[]> {
  const files = await codeBelow(join(folder, room));
  return Promise.all(
    files.map(async (file) => ({ file, name: nameIn(join(folder, room), file), value: await readDefault<T>(file) })),
  );
}

/**
 * The files of code in a room and in the folders below it, in order; none where there is no such room. Throws LoadError for a
 * file that is not code.
 */
async function codeBelow(room: string): Promise<string[]> {
  if (!existsSync(room)) return [];
  const entries = await readdir(room, { recursive: true, withFileTypes: true }).catch((error: Error) => {
    throw new LoadError(`${room} cannot be read: ${error.message}`, { cause: error });
  });
  const files = entries
    .filter((entry) => !entry.isDirectory() && !isBesideCode(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  const stray = files.find((file) => !isCode(file));
  if (stray) throw new LoadError(`${stray} is neither TypeScript nor JavaScript, so the loader cannot read it`);
  return files.sort();
}

async function readRoutes(folder: string): Promise<Found<AnyRoute>[]> {
  const files = await readRoom<AnyRoute[]>(folder, ROOMS.routes);
  return files.flatMap(({ file, name, value }) => {
    if (!Array.isArray(value)) throw new LoadError(`${file} must export a list of routes as its default`);
    return value.map((route) => ({ file, name, value: route }));
  });
}

async function readExamples(folder: string): Promise<Record<string, OperationExample>> {
  const file = join(folder, 'examples.json');
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, OperationExample>;
  } catch (error) {
    throw new LoadError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Imports the manifest and all that lies in the folder's rooms. Throws LoadError. */
export async function readModule(folder: string, name = basename(folder)): Promise<LoadedModule> {
  const file = manifestOf(folder) ?? join(folder, 'index.js');
  const module = await readDefault<Module>(file);
  const [routes, jobs, subscribers, slotFiles] = await Promise.all([
    readRoutes(folder),
    readRoom<AnyJob>(folder, ROOMS.jobs),
    readRoom<AnySubscriber>(folder, ROOMS.subscribers),
    readRoom<Filling | Filling[]>(folder, ROOMS.slots),
  ]);
  if (module.name !== name) throw new LoadError(`${file} is named ${module.name}, not ${name}`);
  return {
    module,
    folder,
    routes,
    jobs,
    subscribers,
    fillings: slotFiles.flatMap(({ file, name, value }) =>
      [value].flat().map((filling) => ({ file, name, value: filling })),
    ),
    migrations: join(folder, 'migrations'),
    examples: await readExamples(folder),
  };
}

/**
 * Reads the modules below `root`: each lies in `<group>/<name>`, and its group is the folder's name. Returns them ordered so that
 * a module comes after those it requires. Throws LoadError for a folder that is neither a group nor a module.
 */
export async function discover(root: string): Promise<LoadedModule[]> {
  const found: LoadedModule[] = [];
  for (const group of await foldersIn(root)) {
    const folders = (await foldersIn(join(root, group))).map((name) => join(root, group, name));
    const stray = manifestOf(join(root, group)) ? join(root, group) : folders.find((folder) => !manifestOf(folder));
    if (stray || folders.length === 0) {
      throw new LoadError(`${stray ?? join(root, group)}: modules lie in <group>/<name>, each with an index.ts`);
    }
    if (folders.length > MAX_MODULES_IN_GROUP) {
      throw new LoadError(
        `${join(root, group)} has ${folders.length} modules; a group has at most ${MAX_MODULES_IN_GROUP}`,
      );
    }
    const modules = await Promise.all(folders.map((folder) => readModule(folder)));
    found.push(...modules.map((loaded) => ({ ...loaded, module: { ...loaded.module, group } })));
  }
  return order(found.sort((a, b) => (a.module.name < b.module.name ? -1 : 1)));
}

async function foldersIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Throws on a missing requirement and on a circle, naming the modules. */
export function order(modules: LoadedModule[]): LoadedModule[] {
  const byName = new Map(modules.map((loaded) => [loaded.module.name, loaded]));
  const done = new Map<string, LoadedModule>();
  const visit = (loaded: LoadedModule, path: string[]) => {
    const { name } = loaded.module;
    if (done.has(name)) return;
    if (path.includes(name))
      throw new LoadError(`modules require each other in a circle: ${[...path, name].join(' > ')}`);
    for (const needed of loaded.module.requires) {
      const other = byName.get(needed);
      if (!other) throw new LoadError(`${manifestOf(loaded.folder)} requires ${needed}, which does not exist`);
      visit(other, [...path, name]);
    }
    done.set(name, loaded);
  };
  for (const loaded of modules) visit(loaded, []);
  return [...done.values()];
}

/** Throws for a name in the configuration of a module that does not exist or cannot be switched off. */
export function mustBeSwitchable(
  modules: LoadedModule[],
  named: { disabled: string[]; enabled: string[]; plansWithout: Record<string, string[]> },
): void {
  const known = new Map(modules.map((loaded) => [loaded.module.name, loaded.module]));
  const lists = {
    MODULES_DISABLED: named.disabled,
    MODULES_ENABLED: named.enabled,
    PLANS_WITHOUT: Object.values(named.plansWithout).flat(),
  };
  for (const [variable, names] of Object.entries(lists)) {
    for (const name of names) {
      if (!known.has(name)) throw new LoadError(`${variable} names ${name}, which does not exist`);
      if (variable !== 'MODULES_ENABLED' && known.get(name)?.core) {
        throw new LoadError(`${variable} names ${name}, which cannot be switched off`);
      }
    }
  }
}
