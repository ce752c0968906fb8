/** Finds the modules below a folder and puts them in the order of their requirements. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { allLoaded, LoadError } from './files.ts';
import { type LoadedModule, manifestOf, readModule } from './read-module.ts';

/** Reads every folder below `root` that has an index.ts; a module comes after those that it requires. Throws LoadError. */
export async function discover(root: string): Promise<LoadedModule[]> {
  const names = (await readdir(root, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  const folders = names
    .sort()
    .map((name) => join(root, name))
    .filter((folder) => manifestOf(folder));
  return order(await allLoaded(folders.map((folder) => readModule(folder))));
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
