/** Bringing modules up, so that a module package that fails takes down nobody but those that require it. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Module, StartServices } from '../contract/index.ts';
import { bringUpToDate } from '../database/bring-up-to-date.ts';
import type { MigrationFolder } from '../database/migrations.ts';
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

interface Running {
  modules: readonly LoadedModule[];
  services: StartServices;
  faults: PackageFaults;
  registry: JobRegistry;
  states: ModuleStates;
  /** Called in reverse at the stop. */
  closers: (() => Promise<void>)[];
}

/** What failed, and what stands on it, is off in this process from now on. Throws the error for other modules. */
async function takeOut({ modules, faults, registry, states }: Running, loaded: LoadedModule, error: unknown) {
  if (!loaded.package) throw error;
  faults.add(loaded.module.name, loaded.package.name, error);
  const working = new Set(faults.inUse(modules));
  for (const one of modules) if (!working.has(one)) registry.forget(one.module.name);
  await states.refresh();
}

/** Returns those that started. */
export async function startModules(running: Running): Promise<LoadedModule[]> {
  const { modules, services, faults, closers } = running;
  for (const loaded of modules) {
    const { module } = loaded;
    if (!faults.inUse(modules).includes(loaded)) continue;
    try {
      await module.start?.(services);
    } catch (error) {
      await takeOut(running, loaded, error);
      continue;
    }
    if (module.stop) closers.push(async () => module.stop?.());
  }
  return faults.inUse(modules);
}

/** Manifests whose `work` does not keep the other modules' from starting, where it is a package's. */
export const standingModules = (running: Running): Module[] =>
  running.faults.inUse(running.modules).map((loaded) => {
    const { module } = loaded;
    if (!loaded.package || !module.work) return module;
    return {
      ...module,
      work: async (services) => {
        try {
          return (await module.work?.(services)) ?? (async () => undefined);
        } catch (error) {
          await takeOut(running, loaded, error);
          return async () => undefined;
        }
      },
    };
  });
