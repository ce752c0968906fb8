/** Finds modules and what lies in their folders; a fault names the file. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyJob, AnyRoute, AnySubscriber, Filling, Module } from '../contract.ts';

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
}

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
  const files = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort();
  return Promise.all(
    files.map(async (name) => {
      const file = join(folder, room, name);
      return { file, value: await readDefault<T>(file) };
    }),
  );
}

async function readModule(folder: string): Promise<LoadedModule> {
  const module = await readDefault<Module>(join(folder, 'index.ts'));
  const [routeFiles, jobs, subscribers, slotFiles] = await Promise.all([
    readRoom<AnyRoute[]>(folder, 'routes'),
    readRoom<AnyJob>(folder, 'jobs'),
    readRoom<AnySubscriber>(folder, 'subscribers'),
    readRoom<Filling | Filling[]>(folder, 'slots'),
  ]);
  if (module.name !== basename(folder))
    throw new LoadError(`${folder}/index.ts is named ${module.name}, not like its folder`);
  return {
    module,
    folder,
    routes: routeFiles.flatMap(({ file, value }) => value.map((route) => ({ file, value: route }))),
    jobs,
    subscribers,
    fillings: slotFiles.flatMap(({ file, value }) => [value].flat().map((filling) => ({ file, value: filling }))),
    migrations: join(folder, 'migrations'),
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
    .filter((folder) => existsSync(join(folder, 'index.ts')));
  return order(await Promise.all(folders.map(readModule)));
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
      if (!other) throw new LoadError(`${loaded.folder}/index.ts requires ${needed}, which does not exist`);
      visit(other, [...path, name]);
    }
    done.set(name, loaded);
  };
  for (const loaded of modules) visit(loaded, []);
  return [...done.values()];
}

/**
 * Leaves out the modules that the operator switched off, or did not name among those to run. Throws for a core module,
 * an unknown one, or one still required.
 */
export function withoutDisabled(modules: LoadedModule[], disabled: string[], enabled: string[] = []): LoadedModule[] {
  const known = new Map(modules.map((loaded) => [loaded.module.name, loaded.module]));
  for (const name of [...disabled, ...enabled]) {
    const variable = disabled.includes(name) ? 'MODULES_DISABLED' : 'MODULES_ENABLED';
    if (!known.has(name)) throw new LoadError(`${variable} names ${name}, which does not exist`);
    if (disabled.includes(name) && known.get(name)?.core) {
      throw new LoadError(`MODULES_DISABLED names ${name}, which cannot be switched off`);
    }
  }
  const kept = modules.filter(({ module }) => {
    if (module.core) return true;
    return !disabled.includes(module.name) && (enabled.length === 0 || enabled.includes(module.name));
  });
  for (const { module } of kept) {
    const missing = module.requires.find((name) => !kept.some((loaded) => loaded.module.name === name));
    if (missing) throw new LoadError(`${module.name} requires ${missing}, which is switched off; switch both off`);
  }
  return kept;
}
