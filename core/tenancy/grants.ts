/** Users cannot grant permissions that they do not hold, nor change users who hold more than they do. */
import type { Context } from '../context/index.ts';
import { Forbidden } from '../errors.ts';
import { catalogPairs, PAIRS_OF_PEOPLE, ROUTE_PAIRS } from './permissions.ts';

/** Each catalog pair with the route pairs that it opens; a key must hold all of them to pass the pair on. */
const OPENED = new Map<string, Set<string>>();
for (const routePair of ROUTE_PAIRS) {
  for (const method of ['GET', 'POST', 'PATCH']) {
    for (const pair of catalogPairs(routePair, method)) {
      OPENED.set(pair, (OPENED.get(pair) ?? new Set()).add(routePair));
    }
  }
}

/** Whether the caller may pass a pair of the catalog on: to a person, a role or a plugin. */
export function mayPassOn(ctx: Context, pair: string): boolean {
  const { kind, permissions } = ctx.actor;
  if (kind !== 'api_key') return permissions.has('*:*') || permissions.has(pair);
  if (PAIRS_OF_PEOPLE.has(pair)) return false;
  // `*` opens no operation that asks people for a second factor, so a key with it holds less than the pairs grant to people.
  const opened = OPENED.get(pair);
  if (!opened) return pair !== '*:*' && permissions.has('*');
  return [...opened].every((routePair) => permissions.has(routePair));
}

/**
 * Throws 403 `Permission denied` naming the pairs of the catalog that the caller does not hold.
 * @param pairs `resource:action`, inherited ones included
 * @param path where the request asked for them
 */
export function mustHold(ctx: Context, pairs: Iterable<string>, path: string): void {
  const missing = [...pairs].filter((pair) => !mayPassOn(ctx, pair));
  if (missing.length === 0) return;
  throw Forbidden({
    message: 'You cannot give or take permissions that you do not hold yourself',
    details: missing.map((pair) => ({ path, message: pair })),
  });
}
