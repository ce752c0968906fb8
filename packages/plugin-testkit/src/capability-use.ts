/** Whether a plugin asks for what it uses, and uses what it asks for. */
import {
  type CapabilityName,
  capabilityForEvent,
  egressFault,
  hostMethod,
  type Manifest,
  PROVIDER_CAPABILITY,
  secretKeys,
} from '@quartermaster/plugin-sdk/host';
import type { NotedCall } from './harness-types.ts';
import type { PluginHost } from './plugin-host.ts';

const capabilityOf = ({ method }: NotedCall): CapabilityName | null => hostMethod(method)?.capability ?? null;
const urlOf = ({ params }: NotedCall): string => String((params as { url?: unknown } | null)?.url);
const declaredIn = ({ permissions = [] }: Manifest) => permissions.map(({ name }) => name);

/** What it tried without having declared it: nothing that was only not granted. */
export function undeclared({ calls, parts: { manifest } }: PluginHost): string[] {
  const declared = declaredIn(manifest);
  const faults = calls.flatMap((call) => {
    const { method, refused } = call;
    if (refused === 'UNKNOWN_METHOD') return [`${method}: there is no such method`];
    if (refused === 'EGRESS_DENIED') return [`${method}: ${urlOf(call)} is not among the servers of egress`];
    const capability = capabilityOf(call);
    return refused === 'PERMISSION_DENIED' && capability && !declared.includes(capability)
      ? [`${method}: needs the permission ${capability}`]
      : [];
  });
  return [...new Set(faults)];
}

/** What it declares and nothing in this harness has used. */
export function unused({ calls, handlersUsed, parts: { manifest, config } }: PluginHost): string[] {
  const { hooks = [], providers = [], egress = [], schedules = [], actions = [] } = manifest;
  const used = new Set<CapabilityName | null>([
    ...calls.map(capabilityOf),
    ...hooks.map(({ event }) => capabilityForEvent(event)),
    ...providers.map(({ kind }) => PROVIDER_CAPABILITY[kind]),
    ...(secretKeys(manifest.configSchema).length > 0 ? (['secrets:config'] as const) : []),
  ]);
  const asked = calls.filter(({ method }) => method === 'http.fetch').map(urlOf);
  const handlers = [
    ...[...hooks, ...schedules].map(({ handler }) => handler),
    ...actions.map(({ name, handler }) => handler ?? name),
    ...providers.flatMap((one) => Object.values(one.handlers)),
  ];
  return [
    ...declaredIn(manifest)
      .filter((name) => !used.has(name))
      .map((name) => `the permission ${name}`),
    ...egress
      .filter((rule) => !asked.some((url) => egressFault(url, [rule], config) === null))
      .map((rule) => `the server ${typeof rule === 'string' ? rule : `of ${rule.fromConfig}`}`),
    ...[...new Set(handlers)].filter((name) => !handlersUsed.has(name)).map((name) => `the handler ${name}`),
  ];
}
