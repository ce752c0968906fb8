/** Starts modules so that a module package that fails stops only those that require it. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { ProvidedService, StartServices } from '../contract/index.ts';
import { bringUpToDate } from '../database/bring-up-to-date.ts';
import type { MigrationFolder } from '../database/migrations.ts';
import { Dispatcher } from '../delivery/dispatcher.ts';
import { drainQueue } from '../delivery/drain.ts';
import type { JobRegistry } from '../jobs/registry.ts';
import type { ModuleStates } from '../modules/states.ts';
import type { PackageFaults } from './faults.ts';
import { LoadError } from './files.ts';
import type { LoadedModule } from './read-module.ts';

/** Empty for a module of the server itself: those are migrated together. */
export const packageMigrations = ({ module, migrations, package: place }: LoadedModule): MigrationFolder[] =>
  place ? [{ owner: module.name, path: migrations, prefix: place.prefix }] : [];

/** The dry run of a switch counts in all of them: one that is not there would fail it for every module. */
async function mustKeepObjects(owner: pg.Pool, { module }: LoadedModule): Promise<void> {
  const tables = Object.values(module.objects ?? {});
  const { rows } = await owner.query<{ name: string }>(
    `select name from unnest($1::text[]) name where not exists (
       select from pg_attribute where attrelid = to_regclass(name) and attname = 'org_id')`,
    [tables],
  );
  if (rows[0]) throw new LoadError(`${rows[0].name}, one of its objects, is no table with an org_id`);
}

/** Each package by itself, after what it requires. Returns all modules, without what the faulty ones have. */
export async function migratePackages(
  owner: pg.Pool,
  modules: readonly LoadedModule[],
  { faults, autoMigrate, log }: { faults: PackageFaults; autoMigrate: boolean; log: Logger },
): Promise<LoadedModule[]> {
  for (const loaded of modules) {
    if (!loaded.package || !faults.inUse(modules).includes(loaded)) continue;
    try {
      await bringUpToDate(owner, packageMigrations(loaded), autoMigrate, log);
      await mustKeepObjects(owner, loaded);
    } catch (error) {
      faults.add(loaded.module.name, loaded.package.name, error);
    }
  }
  return faults.withoutFaulty(modules);
}

export interface ModuleStart {
  modules: readonly LoadedModule[];
  start: StartServices;
  faults: PackageFaults;
  registry: JobRegistry;
  states: ModuleStates;
  /** Receives the services that a module provides. */
  provided: { add(services: readonly ProvidedService[]): void };
  /** Receives the function that stops a module. */
  stoppers: { add(name: string, stop: () => Promise<void> | void): void };
}

/** Turns a faulty package and what requires it off in this process. Throws the error when the module is not a package's. */
async function takeOut({ modules, faults, registry, states }: ModuleStart, loaded: LoadedModule, error: unknown) {
  if (!loaded.package) throw error;
  faults.add(loaded.module.name, loaded.package.name, error);
  const working = new Set(faults.inUse(modules));
  for (const one of modules) if (!working.has(one)) registry.forget(one.module.name);
  await states.refresh();
}

/** Calls each module's `start`. Returns the modules that work. */
export async function startModules(starting: ModuleStart): Promise<LoadedModule[]> {
  const { modules, start, faults, provided, stoppers } = starting;
  for (const loaded of modules) {
    const { module } = loaded;
    if (!faults.inUse(modules).includes(loaded)) continue;
    try {
      const started = await module.start?.(start);
      provided.add(started?.provide ?? []);
      if (started?.stop) stoppers.add(`the module ${module.name}`, () => started.stop?.());
    } catch (error) {
      await takeOut(starting, loaded, error);
    }
  }
  return faults.inUse(modules);
}

/** Calls each module's `work` and starts sending from its queues. Returns a function that stops all of it. */
export async function startBackground(starting: ModuleStart): Promise<() => Promise<void>> {
  const { modules, start, faults } = starting;
  const working = faults.inUse(modules).map(async (loaded) => {
    const { name, work, deliveries = [] } = loaded.module;
    try {
      const stop = await work?.(start);
      const dispatchers = deliveries.map((queue) => new Dispatcher(start, name, queue));
      return async () => {
        await Promise.all([stop?.(), ...dispatchers.map((dispatcher) => dispatcher.stop())]);
      };
    } catch (error) {
      await takeOut(starting, loaded, error);
      return undefined;
    }
  });
  const stops = await Promise.all(working);
  return async () => {
    await Promise.all(stops.map((stop) => stop?.()));
  };
}

/** Sends what is due in the queue of this name at this moment. */
export async function drainDeliveries({ modules, start, faults }: ModuleStart, name: string): Promise<void> {
  for (const { module } of faults.inUse(modules)) {
    const queue = module.deliveries?.find((one) => one.name === name);
    if (queue) return drainQueue(start, module.name, queue);
  }
  throw new Error(`there is no delivery queue ${name}`);
}
