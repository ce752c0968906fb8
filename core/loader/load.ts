/** All that lies in the modules' folders, checked, as the platform, the commands and the tests want it. */
import { join } from 'node:path';
import type { Config } from '#config';
import type { OutgoingMessage, SocketEndpoint } from '../contract/index.ts';
import { withReads } from '../http/conventions/entity-tags.ts';
import type { RouteTag } from '../http/route.ts';
import { checkModules } from './check.ts';
import { discover, mustBeSwitchable } from './discover.ts';
import type { PackageFaults } from './faults.ts';
import { loadPackages } from './packages.ts';
import type { LoadedModule } from './read-module.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** The group of modules to copy from; they are not part of the product and run only in their tests. */
const EXAMPLES = 'examples';

/**
 * The modules of this repository, checked; nothing is started.
 * @param root another folder of modules, read with its examples; for tests
 */
export async function loadModules(root?: string): Promise<LoadedModule[]> {
  const modules = root ? await discover(root) : await discover(join(ROOT, 'modules'), [EXAMPLES]);
  checkModules(modules);
  return modules;
}

/**
 * All modules of an installation, those of module packages last; what is switched off is here too (core/modules). A fault in
 * a package goes to `faults`, any other is thrown.
 */
export async function loadInstallation(config: Config, faults: PackageFaults, root?: string): Promise<LoadedModule[]> {
  const own = await loadModules(root);
  const modules = [...own, ...(await loadPackages(config, own, faults))];
  mustBeSwitchable(modules, config.modules);
  return modules;
}

export const migrationFolders = (modules: LoadedModule[]) => [
  { owner: 'core', path: join(ROOT, 'migrations') },
  ...modules
    .filter((loaded) => !loaded.package)
    .map((loaded) => ({ owner: loaded.module.name, path: loaded.migrations })),
];

/** What the modules send to other people's servers. */
export const outgoingMessages = (modules: readonly LoadedModule[]): (OutgoingMessage & { module: string })[] => {
  const events = modules.flatMap((loaded) => loaded.events);
  return modules.flatMap(({ module }) =>
    (module.sends?.(events) ?? []).map((message) => ({ ...message, module: module.name })),
  );
};

export const routeTags = (modules: readonly LoadedModule[]): RouteTag[] =>
  withReads(
    modules.flatMap((loaded) =>
      loaded.routes.map(({ value }) => {
        const example = loaded.examples[`${value.method} ${value.path}`];
        const { name, core } = loaded.module;
        return { route: value, module: name, switchable: !core, ...(example ? { example } : {}) };
      }),
    ),
  );

export const socketEndpoints = (modules: readonly LoadedModule[]) =>
  modules.flatMap(({ module, contributions }) =>
    contributions
      .filter(({ value }) => value.slot === 'http.socket')
      .map(({ value }) => ({ module: module.name, endpoint: value.value as SocketEndpoint })),
  );
