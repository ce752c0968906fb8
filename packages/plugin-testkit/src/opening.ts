/** Opens a harness: what a server checks before it installs and enables a plugin. */
import { randomUUID } from 'node:crypto';
import {
  API_VERSION,
  checkForm,
  contentsOf,
  DEFAULT_LIMITS,
  fitsApi,
  type Manifest,
  missingHandlers,
  mustBeManifest,
  secretKeys,
  withDefaults,
} from '@quartermaster/plugin-sdk/host';
import { FakeClock } from './clock/fake-clock.ts';
import type { HarnessOptions } from './harness-types.ts';
import { PluginHost } from './plugin-host.ts';
import { across } from './wire.ts';
import { Devices } from './world/devices.ts';
import { KvStore } from './world/kv-store.ts';
import { Peers } from './world/peers.ts';
import { Records } from './world/records.ts';

const START = '2026-01-05T08:00:00.000Z';

/** By their text: its forms are compiled, which takes longer than most tests. */
const known = new Map<string, Manifest>();

function checkedManifest(given: object): Manifest {
  const text = JSON.stringify(given);
  const manifest = known.get(text) ?? mustBeManifest(across(given));
  known.set(text, manifest);
  return manifest;
}

export function openHost(options: HarnessOptions): PluginHost {
  const manifest = checkedManifest(options.manifest);
  const { plugin, org = {} } = options;
  if (!fitsApi(manifest)) throw new Error(`engine.api: ${manifest.engine.api} leaves out ${API_VERSION}, this version`);
  const missing = missingHandlers(manifest, contentsOf(plugin).handlers);
  if (missing.length > 0)
    throw new Error(`The manifest names handlers that the plugin does not have: ${missing.join(', ')}`);
  const asked = (manifest.permissions ?? []).map(({ name }) => name);
  const granted = new Set<string>(options.granted ?? asked);
  const beyond = [...granted].filter((name) => !asked.includes(name as (typeof asked)[number]));
  if (beyond.length > 0)
    throw new Error(`Granted, but not among the permissions of the manifest: ${beyond.join(', ')}`);
  const { config, secrets } = checkedConfig(manifest, across(options.config ?? {}));
  const clock = new FakeClock(new Date(options.now ?? START).getTime());
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  return new PluginHost({
    ...{ manifest, plugin, granted, config, limits },
    shownConfig: granted.has('secrets:config') ? { ...config, ...secrets } : config,
    patienceMs: options.patienceMs ?? 1_000,
    org: { id: randomUUID(), name: 'Bakery', timezone: 'UTC', ...org },
    world: {
      clock,
      kv: new KvStore(limits),
      http: new Peers(clock),
      devices: new Devices(options.devices ?? [], options.customFields ?? []),
      alerts: options.alerts ? new Records('alert', options.alerts) : null,
      tickets: options.tickets ? new Records('ticket', options.tickets) : null,
      notifications: options.notifications === false ? null : [],
      emitted: [],
      planned: new Map(),
    },
  });
}

/** With defaults, the secrets apart. Throws with every fault. */
export function checkedConfig(manifest: Manifest, given: Record<string, unknown>) {
  const { configSchema } = manifest;
  const all = withDefaults(configSchema, given);
  const faults = checkForm(configSchema, all);
  if (faults.length > 0)
    throw new Error(
      `The configuration is not valid:\n${faults.map(({ path, message }) => `  ${path ? `config.${path}` : 'config'}: ${message}`).join('\n')}`,
    );
  const secret = secretKeys(configSchema);
  const part = (wanted: boolean) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => secret.includes(key) === wanted));
  return { config: part(false), secrets: part(true) };
}
