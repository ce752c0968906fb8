/** Maps the permission pairs that routes ask for to the catalog pairs that roles hold. */

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

/** Whether an API key's scopes satisfy a route pair. A route that needs MFA wants the exact scope, not `*`. */
export function keyHoldsScope(scopes: ReadonlySet<string>, routePair: string, mfa: boolean): boolean {
  return scopes.has(routePair) || (!mfa && scopes.has('*'));
}
