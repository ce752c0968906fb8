/** Whether the caller has a permission. */
import { type Context, callerHolds } from '#core';

/** @param permission `resource:action` as a route requires it; null requires none */
export function mayRead({ actor }: Context, permission: string | null): boolean {
  return permission === null || callerHolds(actor, permission, 'GET');
}
