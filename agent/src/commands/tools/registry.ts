/** Commands about the registry, on systems that have one. */
import type { RegistryPlace } from '#agent-protocol';
import { type Registry, ToolError, type Tools } from '../../tools/contract.ts';
import { flag, oneOf, optionalText, text } from '../payload.ts';
import type { Tool } from '../tool.ts';

type Payload = Record<string, unknown>;

const placeIn = (payload: Payload): RegistryPlace => ({
  hive: text(payload, 'hive', 64),
  path: optionalText(payload, 'path', 1_024) ?? '',
  view: oneOf(payload, 'view', ['64', '32'], '64'),
});
const nameIn = (payload: Payload): string => optionalText(payload, 'name', 256) ?? '';

function registryOf({ registry }: Tools): Registry {
  if (!registry) throw new ToolError('UNSUPPORTED_OS', 'this operating system has no registry');
  return registry;
}

export const REGISTRY_TOOLS = {
  registry_keys: async (tools, payload, { signal }) => ({
    items: await registryOf(tools).keys(placeIn(payload), signal),
  }),
  registry_values: async (tools, payload, { signal }) => ({
    items: await registryOf(tools).values(placeIn(payload), signal),
  }),
  registry_get: async (tools, payload, { signal }) =>
    registryOf(tools).value(placeIn(payload), nameIn(payload), signal),
  registry_set: async (tools, payload, { signal }) =>
    registryOf(tools).set(
      placeIn(payload),
      { name: nameIn(payload), type: text(payload, 'type', 32), data: payload.data },
      signal,
    ),
  async registry_delete(tools, payload, { signal }) {
    await registryOf(tools).delete(placeIn(payload), nameIn(payload), signal);
    return {};
  },
  registry_key_create: async (tools, payload, { signal }) => registryOf(tools).createKey(placeIn(payload), signal),
  async registry_key_delete(tools, payload, { signal }) {
    await registryOf(tools).deleteKey(placeIn(payload), flag(payload, 'recursive'), signal);
    return {};
  },
} satisfies Record<string, Tool>;
