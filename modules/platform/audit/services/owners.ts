/** The owner of the requested chain, and whether the caller may read it. */
import { type Context, canAccessOrg, mustAccessOrg, mustReachAllOrgs } from '#core';

/**
 * The organization named, else the caller's own, else the partner's rows, else the platform's. Throws 403 for an
 * organization out of reach, and to partner users limited to some organizations where they name none.
 */
export function ownerFor(ctx: Context, named: string | undefined): string {
  const orgId = named?.toLowerCase() ?? ctx.scope.orgId;
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    return `org:${orgId}`;
  }
  mustReachAllOrgs(ctx);
  return ctx.scope.partnerId ? `partner:${ctx.scope.partnerId}` : 'platform';
}

/** Whether a chain is within the caller's reach; for rows found by their own ids. */
export function reachesOwner({ scope }: Context, owner: string): boolean {
  if (scope.kind === 'system') return true;
  const [kind, id = ''] = owner.split(':');
  if (kind === 'org') return canAccessOrg(scope, id);
  return kind === 'partner' && scope.kind === 'partner' && scope.partnerId === id && scope.allOrgs;
}
