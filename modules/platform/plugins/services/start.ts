/** Starts what runs in each process: the host of plugins, and the listeners of events. */
import { provide, type StartedModule, type StartServices } from '#core';
import { variables } from '../variables.ts';
import { registerShipped } from './builtin/registrations.ts';
import { LISTENERS, listenersFor } from './dispatch/listeners.ts';
import { HOST, PluginHost } from './running/host.ts';

export async function startPlugins(start: StartServices): Promise<StartedModule> {
  const host = new PluginHost(start);
  const listeners = listenersFor(start);
  await listeners.load();
  await registerShipped(start);
  // Only there can a wall be missing for all plugins; a server that runs none starts no broker.
  if (start.clocks && variables.of(start.services.config).sandbox === 'jail')
    void host.walls().then(({ unavailable }) => unavailable && start.log.warn(unavailable));
  return {
    provide: [provide(HOST, host), provide(LISTENERS, listeners)],
    async stop() {
      listeners.stop();
      await host.stop();
    },
  };
}
