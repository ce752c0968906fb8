/** The jobs and subscribers of the loaded modules, under the names that they have in the queue. */
import type { ModuleDirectory } from '../contract/index.ts';
import type { Lanes } from '../jobs/lanes.ts';
import { JobRegistry } from '../jobs/registry.ts';
import type { LoadedModule } from './read-module.ts';

export function jobRegistry(
  modules: readonly LoadedModule[],
  states: Pick<ModuleDirectory, 'off' | 'orgsWithout'>,
  lanes: Lanes,
): JobRegistry {
  const registry = new JobRegistry(states, lanes);
  for (const loaded of modules) {
    const module = loaded.module.name;
    for (const { value } of loaded.jobs) registry.addJob({ module, job: value });
    for (const { name, value } of loaded.subscribers) {
      const task = `${module}/on-${name}`;
      registry.addSubscriber({ task, module, subscriber: value });
    }
  }
  return registry;
}
