/** Whether the caller may read what a permission opens. */
import { type Context, holdsPermission } from '#core';

/** @param permission `resource:action` as a route would ask for it; null asks for none */
export function mayRead({ actor }: Context, permission: string | null): boolean {
  if (permission === null) return true;
  // A key holds the route's own pairs, a person those of the catalog.
  if (actor.kind === 'api_key') return actor.permissions.has('*') || actor.permissions.has(permission);
  return holdsPermission(actor.permissions, permission, 'GET');
}
