/** An invented registry: small, and it keeps what is written. Systems without one say so. */

import type { OsType, RegistryValueItem } from '#agent-protocol';
import { ToolError } from '../../tools/contract.ts';
import { found, type LiveTool, type Payload, text } from './answers.ts';

export function registryTools(osType: OsType): Record<string, LiveTool> {
  const keys = new Map<string, Map<string, RegistryValueItem>>([
    ['HKLM\\SOFTWARE', new Map()],
    [
      'HKLM\\SOFTWARE\\Simulated',
      new Map([['Version', { name: 'Version', type: 'REG_SZ', data: '1.0', truncated: false }]]),
    ],
  ]);
  const nameOf = ({ hive, path }: Payload) => [hive, path].filter(Boolean).join('\\');
  const of = (place: Payload) => found(keys.get(nameOf(place)), `key ${nameOf(place)}`);
  const tools: Record<string, LiveTool> = {
    registry_keys(place) {
      of(place);
      const below = `${nameOf(place)}\\`;
      const names = [...keys.keys()].filter((key) => key.startsWith(below) && !key.slice(below.length).includes('\\'));
      return {
        items: names.map((key) => ({
          ...{ name: key.slice(below.length), path: key, subKeyCount: 0, valueCount: keys.get(key)?.size ?? 0 },
          lastModified: null,
        })),
      };
    },
    registry_values: (place) => ({ items: [...of(place).values()] }),
    registry_get: (place) => found(of(place).get(text(place.name)), `value ${String(place.name)}`),
    registry_set(place) {
      const [values, name] = [of(place), text(place.name)];
      const before = values.get(name);
      values.set(name, { name, type: text(place.type), data: place.data, truncated: false });
      return { before: before ? { type: before.type, bytes: JSON.stringify(before.data).length } : null };
    },
    registry_delete(place) {
      if (!of(place).delete(text(place.name))) throw new ToolError('NOT_FOUND', 'There is no such value');
      return {};
    },
    registry_key_create(place) {
      const created = !keys.has(nameOf(place));
      if (created) keys.set(nameOf(place), new Map());
      return { created };
    },
    registry_key_delete(place) {
      of(place);
      const all = [...keys.keys()].filter((key) => key.startsWith(`${nameOf(place)}\\`));
      if (all.length > 0 && place.recursive !== true) throw new ToolError('CONFLICT', 'The key has others below it');
      for (const key of [...all, nameOf(place)]) keys.delete(key);
      return {};
    },
  };
  if (osType === 'windows') return tools;
  const none = () => {
    throw new ToolError('UNSUPPORTED_OS', 'Only Windows has a registry');
  };
  return Object.fromEntries(Object.keys(tools).map((name) => [name, none]));
}
