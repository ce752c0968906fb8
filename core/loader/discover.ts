/** Finds the modules below a folder and puts them in the order of their requirements. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { allLoaded, LoadError } from './files.ts';
import { type LoadedModule, manifestOf, readModule } from './read-module.ts';

/** Modules in one group; more would no longer be found at a glance. */
const MAX_MODULES_IN_GROUP = 12;

/**
 * Reads the modules below `root`: each lies in `<group>/<name>`, and its group is the folder's name. Returns them ordered so that
 * a module comes after those it requires. Throws LoadError with all faults, such as a folder that is neither group nor module.
 * @param without groups that are skipped
 */
export async function discover(root: string, without: readonly string[] = []): Promise<LoadedModule[]> {
  const names = (await foldersIn(root)).filter((group) => !without.includes(group));
  const groups = await allLoaded(names.map((group) => readGroup(root, group)));
  return order(groups.flat().sort((a, b) => (a.module.name < b.module.name ? -1 : 1)));
}

async function readGroup(root: string, group: string): Promise<LoadedModule[]> {
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
  const modules = await allLoaded(folders.map((folder) => readModule(folder)));
  return modules.map((loaded) => ({ ...loaded, module: { ...loaded.module, group } }));
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
