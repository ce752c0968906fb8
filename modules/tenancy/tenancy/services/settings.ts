/** Settings of partners and organizations: merged key by key, and checked by the modules that read them. */
import { isDeepStrictEqual } from 'node:util';
import { type Context, errors } from '#core';
import { PARTNER_SETTINGS } from '../models/partner-settings.ts';
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
    const faults = ctx.services.settingsFaults(name, merged[name]) ?? [];
    return faults
      .filter(({ path }) => path === '' || has(sent[name], path.split('.')[0] ?? ''))
      .map(({ path, message }) => ({
        in: 'payload' as const,
        path: ['settings', name, ...(path ? [path] : [])].join('.'),
        message,
      }));
  });
}

/** Keys that neither core nor a module knows, unless they are stored with this value: what was read can be written back. */
function unknownKeys(ctx: Context, stored: Json, sent: Json, known: readonly string[]): Fault[] {
  return Object.keys(sent).flatMap((name) => {
    if (known.includes(name) || ctx.services.settingsFaults(name, {}) !== null) return [];
    if (sent[name] === null || isDeepStrictEqual(sent[name], stored[name])) return [];
    const path = `settings.${name}`;
    return [{ in: 'payload' as const, path, message: `"${path}" is not allowed` }];
  });
}

/** The order of organizations can be sent back as it was read; it has an operation of its own for changes. */
function orderFaults(stored: Json, sent: Json): Fault[] {
  const { organizationOrder: order } = sent;
  if (order === undefined || isDeepStrictEqual(order, stored.organizationOrder)) return [];
  const message = '"settings.organizationOrder" is changed by PATCH /orgs/organizations/order';
  return [{ in: 'payload', path: 'settings.organizationOrder', message }];
}

/** As mergeSettings(), for a partner: a key that is neither known nor the name of a module with settings is a fault. */
export function mergePartnerSettings(ctx: Context, stored: Json, sent: Json): Json {
  return mergeSettings(ctx, stored, sent, [
    ...unknownKeys(ctx, stored, sent, PARTNER_SETTINGS),
    ...orderFaults(stored, sent),
  ]);
}

/**
 * The stored settings with what was sent merged in. Throws VALIDATION_ERROR with the path of each fault.
 * @param found faults that the caller found before
 */
export function mergeSettings(ctx: Context, stored: Json, sent: Json, found: readonly Fault[] = []): Json {
  const merged = mergePatch(stored, sent);
  const faults = [...found, ...faultsOf(ctx, sent, merged)];
  if (faults[0]) throw errors.ValidationFailed({ message: faults[0].message, details: faults });
  const { organizationOrder: _, ...rest } = merged;
  if (Buffer.byteLength(JSON.stringify(rest)) > MOST_BYTES) {
    const message = `"settings" must have at most ${MOST_BYTES} bytes of JSON`;
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'settings', message }] });
  }
  return merged;
}
