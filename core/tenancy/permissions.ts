/** Maps the permission pairs that routes ask for to the catalog pairs that roles hold. */
import type { Actor } from '../context/actor.ts';

const RENAMED: Record<string, string> = {
  'alerts:acknowledge': 'alerts:update',
  'users:invite': 'users:create',
  'remote:access': 'remote:execute',
  'audit:read': 'settings:view',
  'audit:export': 'settings:execute',
};

/** The pairs that routes may ask for. Reports, settings and billing use the pairs of the role catalog. */
export const ROUTE_PAIRS: ReadonlySet<string> = new Set([
  ...['devices', 'scripts'].flatMap((r) => ['read', 'write', 'delete', 'execute'].map((a) => `${r}:${a}`)),
  ...['read', 'write', 'acknowledge'].map((a) => `alerts:${a}`),
  ...['read', 'write', 'delete', 'invite'].map((a) => `users:${a}`),
  ...['organizations', 'sites', 'automations'].flatMap((r) => ['read', 'write', 'delete'].map((a) => `${r}:${a}`)),
  'remote:access',
  'audit:read',
  'audit:export',
  ...['reports', 'settings', 'billing'].flatMap((r) =>
    ['view', 'create', 'update', 'delete', 'execute'].map((a) => `${r}:${a}`),
  ),
]);

/** The catalog pairs that satisfy a route pair on this method. */
export function catalogPairs(routePair: string, method: string): string[] {
  const renamed = RENAMED[routePair];
  if (renamed) return [renamed];
  const [resource, action] = routePair.split(':');
  if (action === 'read') return [`${resource}:view`];
  if (action === 'write') {
    if (method === 'POST') return [`${resource}:create`];
    return method === 'GET' ? [`${resource}:create`, `${resource}:update`] : [`${resource}:update`];
  }
  return [routePair];
}

/** Whether a role's catalog permissions satisfy a route pair. `*:*` satisfies all. */
export function holdsPermission(held: ReadonlySet<string>, routePair: string, method: string): boolean {
  return held.has('*:*') || catalogPairs(routePair, method).some((pair) => held.has(pair));
}

/** Pairs with which people change what API keys never may: keys, single sign-on, roles and the second factors of others. */
export const PAIRS_OF_PEOPLE: ReadonlySet<string> = new Set([
  'organizations:create',
  'organizations:update',
  'users:create',
  'users:update',
  'users:delete',
]);

/** Whether an API key's scopes satisfy a route pair. A route that needs MFA wants the exact scope, not `*`. */
export function keyHoldsScope(scopes: ReadonlySet<string>, routePair: string, mfa: boolean): boolean {
  return scopes.has(routePair) || (!mfa && scopes.has('*'));
}

/**
 * Whether a caller may do what a route with this pair does: users by their role, API keys by their scopes.
 * @param mfa whether that route asks people for a second factor: keys then need exactly this scope
 */
export function callerHolds(
  { kind, permissions }: Pick<Actor, 'kind' | 'permissions'>,
  routePair: string,
  method: string,
  mfa = false,
): boolean {
  return kind === 'api_key'
    ? keyHoldsScope(permissions, routePair, mfa)
    : holdsPermission(permissions, routePair, method);
}
