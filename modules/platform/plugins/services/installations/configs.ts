/** Configurations: validated against the plugin's form, secrets sealed separately, masked values kept. */
import { type Context, errors } from '#core';
import { checkForm, type FormSchema, type Manifest, secretKeys, withDefaults } from '#plugin-sdk/host';
import { ConfigInvalid } from '../../errors.ts';
import { MASK } from '../../models/installation.ts';
import { secretPlace } from '../running/facts.ts';

export interface StoredConfig {
  config: Record<string, unknown>;
  secretConfig: Record<string, string>;
}
const NONE: StoredConfig = { config: {}, secretConfig: {} };

/** For storage. Throws CREDENTIALS_REQUIRED where secrets would go to a server that was not configured when they were given. */
export function storedConfig(
  ctx: Context,
  id: string,
  manifest: Manifest,
  given: Record<string, unknown>,
  before: StoredConfig = NONE,
): StoredConfig {
  const secret = new Set(secretKeys(manifest.configSchema));
  const kept = [...secret].filter((key) => given[key] === MASK && before.secretConfig[key] !== undefined);
  const moved = destinations(manifest).filter((key) => given[key] !== before.config[key]);
  if (moved.length > 0 && kept.length > 0) {
    const message = `${moved.join(', ')} changes: give ${kept.join(', ')} again`;
    throw errors.CredentialsRequired({
      message,
      details: kept.map((key) => ({ in: 'payload', path: `config.${key}`, message })),
    });
  }
  const plain = Object.fromEntries(Object.entries(given).filter(([key]) => !secret.has(key)));
  const sealed = Object.entries(given).flatMap(([key, value]): [string, string][] => {
    if (!secret.has(key) || value === null) return [];
    if (kept.includes(key)) return [[key, before.secretConfig[key] ?? '']];
    return [[key, ctx.services.seal.seal(String(value), secretPlace(id))]];
  });
  return { config: plain, secretConfig: Object.fromEntries(sealed) };
}

/** Throws CONFIG_INVALID with the path of each value that does not fit; missing values are reported when it is enabled. */
export function mustFit(form: FormSchema | undefined, given: Record<string, unknown>, complete: boolean): void {
  const judged = complete || !form ? form : { ...form, required: [] };
  const unmasked = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== MASK && value !== null));
  const faults = checkForm(judged, withDefaults(form, unmasked)).filter(
    ({ path, message }) => message !== 'is required' || !(path in given) || given[path] === null,
  );
  if (faults.length === 0) return;
  const [first] = faults;
  throw ConfigInvalid({
    message: `config.${first?.path} ${first?.message}`,
    details: faults.map(({ path, message }) => ({ in: 'payload', path: path ? `config.${path}` : 'config', message })),
  });
}

/** The keys that name a destination of the plugin. */
const destinations = ({ egress = [] }: Manifest) =>
  egress.flatMap((rule) => (typeof rule === 'string' ? [] : [rule.fromConfig]));
