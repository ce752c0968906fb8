/** Whether the caller has a permission. */
import { type Context, holdsPermission } from '#core';

/** @param permission `resource:action` as a route requires it; null requires none */
export function mayRead({ actor }: Context, permission: string | null): boolean {
  if (permission === null) return true;
  // An API key has permissions of routes, a user those of the catalog.
  if (actor.kind === 'api_key') return actor.permissions.has('*') || actor.permissions.has(permission);
  return holdsPermission(actor.permissions, permission, 'GET');
}
