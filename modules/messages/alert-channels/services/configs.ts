/** Configurations of channels: validated by their type, with secrets sealed in storage and masked in answers. */
import { type Context, errors, UrlBlockedError } from '#core';
import type { ChannelAdapter } from '../models/adapter.ts';
import type { Channel, Config } from '../models/channel.ts';

const MASK = '****';
const place = (row: string) => ({ table: 'alert_channels', column: 'secrets', row });

/** Throws 400 with the path of each fault. */
export function mustFit(adapter: ChannelAdapter, config: Config): Config {
  mustNotBeMasked(config);
  const { error, value } = adapter.config.validate(config, { abortEarly: false });
  if (!error) return value as Config;
  throw errors.ValidationFailed({
    details: error.details.map(({ message, path }) => ({
      in: 'payload',
      path: ['config', ...path].join('.'),
      message,
    })),
  });
}

/** Rejects the mask as a value: stored, it would replace the secret. */
function mustNotBeMasked(value: unknown, path = 'config'): void {
  if (typeof value === 'string' && value.startsWith(MASK)) {
    const message = `${path} is masked: leave it out to keep what is stored`;
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path, message }] });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) mustNotBeMasked(inner, `${path}.${key}`);
}

/** Throws URL_BLOCKED for a URL that the outbound client would block. Runs before the first query, because it resolves names. */
export async function mustBeCallable(ctx: Context, config: Config): Promise<void> {
  for (const key of ['url', 'webhookUrl']) {
    const url = config[key];
    if (typeof url !== 'string' || !URL.canParse(url)) continue;
    try {
      await ctx.services.http.check(url);
    } catch (error) {
      if (!(error instanceof UrlBlockedError)) throw error;
      const { message } = error;
      throw errors.UrlBlocked({ message, details: [{ in: 'payload', path: `config.${key}`, message }] });
    }
  }
}

export function sealed(ctx: Context, id: string, adapter: ChannelAdapter, config: Config) {
  const secrets: Record<string, string> = {};
  const shown: Config = {};
  for (const [key, value] of Object.entries(config)) {
    if (!adapter.secrets.includes(key)) shown[key] = value;
    else {
      secrets[key] = ctx.services.seal.seal(JSON.stringify(value), place(id));
      shown[key] = masked(value);
    }
  }
  return { config: shown, secrets };
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one: { key: string }) => ({ key: one.key, value: MASK }));
  const text = String(value);
  return text.length >= 16 ? MASK + text.slice(-4) : MASK;
}

export function opened(
  ctx: Pick<Context, 'services'>,
  { id, config, secrets }: Pick<Channel, 'id' | 'config' | 'secrets'>,
): Config {
  const open = Object.entries(secrets).map(([key, text]) => [
    key,
    JSON.parse(ctx.services.seal.open(text, place(id))) as unknown,
  ]);
  return { ...config, ...Object.fromEntries(open) };
}

/** A missing key keeps, null clears, a value replaces. Throws CREDENTIALS_REQUIRED for a new destination without the secrets. */
export function merged(adapter: ChannelAdapter, before: Config, given: Config): Config {
  mustNotBeMasked(given);
  const elsewhere = adapter.destination.some(
    (key) =>
      given[key] !== undefined && given[key] !== null && JSON.stringify(given[key]) !== JSON.stringify(before[key]),
  );
  const missing = adapter.secrets.filter(
    (key) => !adapter.destination.includes(key) && !isEmpty(before[key]) && given[key] === undefined,
  );
  if (elsewhere && missing.length > 0) {
    throw errors.CredentialsRequired({
      details: missing.map((key) => ({ in: 'payload', path: `config.${key}`, message: 'send it again, or null' })),
    });
  }
  return Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, value]) => value !== null));
}

const isEmpty = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
