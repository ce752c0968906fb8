/** Callers cannot create a key with more reach or permissions than their own. */
import { type Context, errors, holdsPermission } from '#core';
import { AI_SCOPES } from '../../models/key-scopes.ts';

// `write` means creating and changing, so both must be held.
const METHODS = ['POST', 'PATCH'];

/** Throws 403 naming the scopes that the caller's own role does not grant. `*` and `ai:*` need full access. */
export function mayGive(ctx: Context, scopes: readonly string[]): void {
  const { permissions } = ctx.actor;
  const full = permissions.has('*:*');
  const missing = scopes.filter((scope) => {
    if (scope === '*' || AI_SCOPES.includes(scope)) return !full;
    return !METHODS.every((method) => holdsPermission(permissions, scope, method));
  });
  if (missing.length === 0) return;
  throw errors.Forbidden({
    message: 'A key cannot carry scopes that you do not hold',
    details: missing.map((scope) => ({ path: 'scopes', message: scope })),
  });
}
