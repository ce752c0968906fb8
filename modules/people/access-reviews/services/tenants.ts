/** Whose access is reviewed: the tenant of the caller's own session. */
import { type Context, errors, type TenantRef, targetTenant } from '#core';
import type { AccessReview } from '../models/access-review.ts';

/** Throws 403 for system callers, and for partner users who do not reach every organization. */
export const reviewedTenant = (ctx: Context): TenantRef => targetTenant(ctx);

/** A review covers all users, so callers limited to sites or groups cannot write one. Throws as above, and 403. */
export function writtenTenant(ctx: Context): TenantRef {
  const tenant = reviewedTenant(ctx);
  if (ctx.scope.siteIds || ctx.scope.groupIds)
    throw errors.TargetOutOfScope('An access review reaches users beyond your sites or groups');
  return tenant;
}

/** The members of a tenant ($1): user and role, one row each. */
export const membersOf = ({ orgId }: TenantRef): string =>
  orgId
    ? 'select user_id, role_id from organization_users where org_id = $1'
    : 'select user_id, role_id from partner_users where partner_id = $1';

export const idOf = ({ orgId, partnerId }: TenantRef): string | null => orgId ?? partnerId;

/** The parts that every entry about a review has in common. */
export const entryOf = (
  { orgId, partnerId }: TenantRef,
  { id, name }: Pick<AccessReview, 'id' | 'name'>,
  details: Record<string, unknown>,
) => ({
  orgId,
  // Beside an organization the caller's partner stays, as in every entry.
  ...(orgId ? {} : { partnerId }),
  resourceType: 'access_review',
  resourceId: id,
  resourceName: name,
  details,
});
