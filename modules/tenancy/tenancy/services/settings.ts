/** Settings of partners and organizations: merged key by key, and checked by the modules that read them. */
import { type Context, errors } from '#core';
import { type Json, mergePatch } from './merge.ts';

/** Bytes of JSON: the settings are read with every organization. The order of a partner's organizations comes on top. */
const MOST_BYTES = 65_536;

interface Fault {
  in: 'payload';
  path: string;
  message: string;
}

const has = (part: unknown, key: string) => part !== null && typeof part === 'object' && Object.hasOwn(part, key);

/** Validates the parts of the modules as they would be stored. A fault that was stored before is not this request's. */
function faultsOf(ctx: Context, sent: Json, merged: Json): Fault[] {
  return Object.keys(sent).flatMap((name) => {
    if (!Object.hasOwn(merged, name)) return [];
    return ctx.services
      .settingsFaults(name, merged[name])
      .filter(({ path }) => path === '' || has(sent[name], path.split('.')[0] ?? ''))
      .map(({ path, message }) => ({
        in: 'payload' as const,
        path: ['settings', name, ...(path ? [path] : [])].join('.'),
        message,
      }));
  });
}

/** The stored settings with what was sent merged in. Throws VALIDATION_ERROR with the path of each fault. */
export function mergeSettings(ctx: Context, stored: Json, sent: Json): Json {
  const merged = mergePatch(stored, sent);
  const faults = faultsOf(ctx, sent, merged);
  if (faults[0]) throw errors.ValidationFailed({ message: faults[0].message, details: faults });
  const { organizationOrder: _, ...rest } = merged;
  if (Buffer.byteLength(JSON.stringify(rest)) > MOST_BYTES) {
    const message = `"settings" must have at most ${MOST_BYTES} bytes of JSON`;
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'settings', message }] });
  }
  return merged;
}
