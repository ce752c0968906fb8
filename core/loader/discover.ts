/** Finds modules and what lies in their folders; a fault names the file. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyJob, AnyRoute, AnySubscriber, Filling, Module, OperationExample } from '../contract/index.ts';

export class LoadError extends Error {
  override name = 'LoadError';
}

export interface Found<T> {
  file: string;
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
  /** Of its operations, by method and path. */
  examples: Record<string, OperationExample>;
}
export interface PackagePlace {
  name: string;
  /** What the names that it makes begin with. */
  prefix: string;
}

/** The name of a file that the loader reads, without its ending: TypeScript here, JavaScript in what was built. */
export const stemOf = (file: string): string => basename(file).replace(/\.[jt]s$/, '');
const isCode = (name: string) => /\.[jt]s$/.test(name) && !/\.(d|test)\.[jt]s$/.test(name);
export const manifestOf = (folder: string): string | undefined =>
  ['index.ts', 'index.js'].map((name) => join(folder, name)).find((file) => existsSync(file));

async function readDefault<T>(file: string): Promise<T> {
  let loaded: { default?: T };
  try {
    loaded = (await import(pathToFileURL(file).href)) as { default?: T };
  } catch (error) {
    throw new LoadError(`${file} cannot be loaded: ${(error as Error).message}`);
  }
  if (loaded.default === undefined) throw new LoadError(`${file} has no default export`);
  return loaded.default;
}

async function readRoom<T>(folder: string, room: string): Promise<Found<T>[]> {
  const names = await readdir(join(folder, room)).catch(() => []);
  const files = names.filter(isCode).sort();
  return Promise.all(
    files.map(async (name) => {
      const file = join(folder, room, name);
      return { file, value: await readDefault<T>(file) };
    }),
  );
}

async function readExamples(folder: string): Promise<Record<string, OperationExample>> {
  const file = join(folder, 'examples.json');
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, OperationExample>;
  } catch (error) {
    throw new LoadError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Imports the manifest and all that lies in the folder's rooms. Throws LoadError. */
export async function readModule(folder: string, name = basename(folder)): Promise<LoadedModule> {
  const file = manifestOf(folder) ?? join(folder, 'index.js');
  const module = await readDefault<Module>(file);
  const [routeFiles, jobs, subscribers, slotFiles] = await Promise.all([
    readRoom<AnyRoute[]>(folder, 'routes'),
    readRoom<AnyJob>(folder, 'jobs'),
    readRoom<AnySubscriber>(folder, 'subscribers'),
    readRoom<Filling | Filling[]>(folder, 'slots'),
  ]);
  if (module.name !== name) throw new LoadError(`${file} is named ${module.name}, not ${name}`);
  return {
    module,
    folder,
    routes: routeFiles.flatMap(({ file, value }) => value.map((route) => ({ file, value: route }))),
    jobs,
    subscribers,
    fillings: slotFiles.flatMap(({ file, value }) => [value].flat().map((filling) => ({ file, value: filling }))),
    migrations: join(folder, 'migrations'),
    examples: await readExamples(folder),
  };
}

/** Reads every folder below `root` that has an index.ts, ordered so that a module comes after those it requires. */
export async function discover(root: string): Promise<LoadedModule[]> {
  const names = (await readdir(root, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  const folders = names
    .sort()
    .map((name) => join(root, name))
    .filter((folder) => manifestOf(folder));
  return order(await Promise.all(folders.map((folder) => readModule(folder))));
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
