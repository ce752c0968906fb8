/** Plugins for tests of the kit: a manifest to bend, and one that uses nearly everything. */
import { definePlugin, type Manifest, PermanentError, type Plugin, RetryableError } from '@quartermaster/plugin-sdk';
import type { CapabilityName } from '@quartermaster/plugin-sdk/host';
import { createHarness, type HarnessOptions } from '../src/index.ts';

export const manifestOf = (changes: Partial<Manifest> = {}): Manifest => ({
  manifestVersion: 1,
  slug: 'desk-bridge',
  name: 'Desk bridge',
  version: '1.2.0',
  description: 'Opens tickets elsewhere',
  author: 'Example Ltd',
  license: 'MIT',
  type: 'integration',
  engine: { api: '^1.0.0' },
  main: 'dist/index.js',
  ...changes,
});
export const wants = (...names: CapabilityName[]) => names.map((name) => ({ name, reason: `To test ${name}` }));

/** A harness for a few handlers that hear of `device.offline`, or are called as actions. */
export function harnessOf(
  handlers: NonNullable<Plugin['handlers']>,
  manifest: Partial<Manifest> = {},
  more: Partial<HarnessOptions> = {},
) {
  const actions = Object.keys(handlers).map((name) => ({
    ...{ name, label: name, target: 'org' as const, permission: 'devices:read' },
  }));
  return createHarness({ manifest: manifestOf({ actions, ...manifest }), plugin: { handlers }, ...more });
}

export const deskManifest = manifestOf({
  permissions: wants('devices:read', 'kv', 'http', 'secrets:config'),
  egress: [{ fromConfig: 'baseUrl' }],
  configSchema: {
    type: 'object',
    required: ['baseUrl', 'apiKey'],
    properties: {
      baseUrl: { type: 'string', format: 'uri' },
      apiKey: { type: 'string', 'x-secret': true },
      queue: { type: 'string', default: 'new' },
    },
  },
  hooks: [{ event: 'device.offline', handler: 'onOffline', filter: { 'data.osType': 'windows' } }],
});
export const desk = definePlugin({
  handlers: {
    async onOffline(event, ctx) {
      if (await ctx.kv.get(event.id)) return;
      const answer = await ctx.http.fetch(`${ctx.config.baseUrl}/tickets`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${ctx.config.apiKey}` },
        body: JSON.stringify({ title: `${event.data.hostname} is offline`, queue: ctx.config.queue }),
      });
      if (answer.status >= 500) throw new RetryableError('the desk is away', 60_000);
      if (answer.status >= 400) throw new PermanentError(`the desk said ${answer.status}`);
      await ctx.kv.set(event.id, JSON.parse(answer.body));
      ctx.log.info('A ticket was opened', { apiKey: ctx.config.apiKey, hostname: event.data.hostname });
    },
  },
});
export const deskHarness = (more: Partial<HarnessOptions> = {}) =>
  createHarness({
    ...{ manifest: deskManifest, plugin: desk },
    config: { baseUrl: 'https://desk.example', apiKey: 'sk-1234567890' },
    ...more,
  });
export const offline = { type: 'device.offline', data: { hostname: 'pc-1', osType: 'windows' } };
