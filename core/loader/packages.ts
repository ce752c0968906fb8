/** The modules of module packages: found by name, asked before they are imported, checked one by one. */
import { join } from 'node:path';
import type { Config } from '#config';
import { checkModules } from './check.ts';
import { asleep, type PackageFaults } from './faults.ts';
import { LoadError } from './files.ts';
import { checkNames, checkShape } from './package-check.ts';
import { shareCore } from './package-imports.ts';
import { nameOf, type PackageManifest, readManifest } from './package-manifest.ts';
import { type LoadedModule, readModule } from './read-module.ts';

const ROOT = join(import.meta.dirname, '../..');

/** A module of which only this much is known. */
const unread = (module: string, name: string, folder = ''): LoadedModule =>
  asleep({
    module: { name: module, title: name, summary: 'A module package', requires: [], permissions: [], audits: [] },
    folder,
    migrations: '',
    package: { name, prefix: '' },
  });

async function load({ name, root, folder, migrations, place }: PackageManifest, config: Config): Promise<LoadedModule> {
  shareCore(root);
  const loaded: LoadedModule = { ...(await readModule(folder, name)), migrations, package: place };
  checkShape(loaded);
  checkNames(loaded);
  const wrong = loaded.module.variables?.faults(config) ?? [];
  if (wrong.length > 0) throw new LoadError(wrong.join('; '));
  return loaded;
}

function mustBeOwnPrefix(prefix: string, own: readonly LoadedModule[]): void {
  const other = own.find(({ module }) => module.name === prefix || module.name.startsWith(`${prefix}-`));
  if (other) throw new LoadError(`the prefix ${prefix} is that of the server's module ${other.module.name}`);
}

/**
 * In the order in which they were named, but after what they require. A faulty one is there too, without anything of its
 * own, so that people see that it is off; why, `faults` knows.
 */
export async function loadPackages(
  config: Config,
  own: readonly LoadedModule[],
  faults: PackageFaults,
): Promise<LoadedModule[]> {
  const { packages, packagesDir } = config.modules;
  const taken = new Set(own.map(({ module }) => module.name));
  const found: LoadedModule[] = [];
  const faulty: LoadedModule[] = [];
  for (const name of packages) {
    let manifest: PackageManifest | undefined;
    try {
      manifest = await readManifest(name, ROOT, packagesDir);
      mustBeOwnPrefix(manifest.place.prefix, own);
      if (taken.has(manifest.name)) throw new LoadError(`there is a module ${manifest.name} already`);
      found.push(await load(manifest, config));
      taken.add(manifest.name);
    } catch (error) {
      const module = manifest && !taken.has(manifest.name) ? manifest.name : nameOf(name);
      faults.add(module, name, error);
      if (!taken.has(module)) faulty.push(unread(module, name, manifest?.folder));
      taken.add(module);
    }
  }
  return [...faulty, ...place(found, [...own, ...faulty], faults)];
}

/** Those that require nothing that is missing, each checked against the rest. */
function place(found: LoadedModule[], before: readonly LoadedModule[], faults: PackageFaults): LoadedModule[] {
  const known = new Set(before.map(({ module }) => module.name));
  const placed: LoadedModule[] = [];
  const waiting = new Set(found);
  const isReady = ({ module }: LoadedModule) => module.requires.every((name) => known.has(name));
  const take = (loaded: LoadedModule, fault: unknown) => {
    const { module } = loaded;
    waiting.delete(loaded);
    known.add(module.name);
    if (fault) faults.add(module.name, loaded.package?.name ?? '', fault);
    const requires = module.requires.filter((name) => known.has(name));
    placed.push(fault ? asleep({ ...loaded, module: { ...module, requires } }) : loaded);
  };
  for (;;) {
    const next = [...waiting].find(isReady);
    if (!next) break;
    const others = [...before, ...found].filter((one) => one !== next);
    let fault: unknown = null;
    try {
      checkModules([next], others);
    } catch (error) {
      fault = error;
    }
    take(next, fault);
  }
  const inCircle = new Set([...waiting].map(({ module }) => module.name));
  for (const loaded of [...waiting]) {
    const missing = loaded.module.requires.filter((name) => !known.has(name) && !inCircle.has(name));
    take(
      loaded,
      new LoadError(
        missing.length > 0
          ? `it requires ${missing.join(', ')}, which does not exist`
          : `it requires in a circle: ${loaded.module.requires.join(', ')}`,
      ),
    );
  }
  return placed;
}
