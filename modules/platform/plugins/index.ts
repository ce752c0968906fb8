/** Plugins: third-party code that runs in processes of its own, for one organization at a time, with what it was granted. */
import { type Context, defineModule, provide } from '#core';
import type { ProviderKind } from '#plugin-sdk/host';
import { callProvider, listProviders, type Provider, type ProviderCall } from './services/actions.ts';
import { registerShipped } from './services/builtin/registrations.ts';
import { LISTENERS, listenersFor } from './services/dispatch/listeners.ts';
import { pluginQueue } from './services/dispatch/queue.ts';
import { HOST, PluginHost } from './services/running/host.ts';
import { variables } from './variables.ts';

const api = (ctx: Context) => ({
  /** What enabled plugins within reach offer. */
  providers: (kind: ProviderKind, orgId?: string): Promise<Provider[]> => listProviders(ctx, kind, orgId),
  /** Waits for the plugin, so outside of any transaction. The answer fits the schema of the kind. */
  callProvider: (call: ProviderCall): Promise<unknown> => callProvider(ctx, call),
});

declare module '#core/contract' {
  interface Apis {
    plugins: ReturnType<typeof api>;
  }
  interface Events {
    /** What a plugin had to tell; `depth`: how many plugins lie between it and what people or devices did. */
    'plugins.event': {
      installationId: string;
      slug: string;
      name: string;
      data: Record<string, unknown>;
      depth: number;
    };
    /** A plugin has something to say to people. */
    'plugins.notified': { installationId: string; slug: string; title: string; message: string };
    'plugins.quarantined': { installationId: string; partnerId: string | null; slug: string; reason: string };
  }
}

export default defineModule({
  name: 'plugins',
  title: 'Plugins',
  summary: 'Third-party code in processes of its own, with declared and granted capabilities',
  requires: ['devices', 'custom-fields'],
  variables,
  default: 'on',
  auditOnly: ['plugin.call', 'plugin.quarantine'],
  events: ['plugins.event', 'plugins.notified', 'plugins.quarantined'],
  objects: { plugins: 'plugin_installations' },
  api,
  async start(start) {
    const host = new PluginHost(start);
    const listeners = listenersFor(start);
    await listeners.load();
    await registerShipped(start);
    return {
      provide: [provide(HOST, host), provide(LISTENERS, listeners)],
      async stop() {
        listeners.stop();
        await host.stop();
      },
    };
  },
  deliveries: [pluginQueue],
});
