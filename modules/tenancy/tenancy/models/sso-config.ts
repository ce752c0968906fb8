/** Notes of a partner or an organization on its single sign-on; providers belong to the module sso. */
import { openObject } from '#core';

type Open = Record<string, unknown>;

const SECRET = /(secret|password|private_?key)$/i;

/** The first secret by its path, or null. */
function secretIn(value: unknown, path: string): string | null {
  if (value === null || typeof value !== 'object') return null;
  for (const [key, inner] of Object.entries(value)) {
    const at = path ? `${path}.${key}` : key;
    if (typeof inner === 'string' && SECRET.test(key)) return at;
    const deeper = secretIn(inner, at);
    if (deeper) return deeper;
  }
  return null;
}

/** Shown to all users who may read the record, so it must not contain a secret. */
export const ssoConfig = openObject(16_384)
  .custom((value: Open, helpers) => {
    const path = secretIn(value, '');
    return path ? helpers.error('object.secret', { path }) : value;
  })
  .messages({
    'object.secret': '{{#label}} is readable: keep {{#path}} in a single sign-on provider (/sso/providers)',
  });
