/** Whose a field is, and who may write it (domain/00-conventions, "Owner axis"). */
import { type Context, errors, mustAccessOrg, mustReachAllOrgs } from '#core';
import type { CustomField } from '../models/custom-field.ts';
import { OutOfScope, OwnerRequired } from '../models/refusals.ts';

type Owner = Pick<CustomField, 'orgId' | 'partnerId'>;

/** The owner named in a new definition; an organization's own users need not name theirs. Throws OWNER_REQUIRED. */
export function ownerOf(ctx: Context, named: { orgId?: string; partnerId?: string }): Owner {
  const orgId = named.orgId ?? (named.partnerId ? undefined : ctx.scope.orgId);
  if (Boolean(orgId) === Boolean(named.partnerId)) throw OwnerRequired();
  const owner = { orgId: orgId ?? null, partnerId: named.partnerId ?? null };
  mayWrite(ctx, owner);
  return owner;
}

/** Throws 403: a partner's fields are for its users with access to all organizations; nobody writes beyond their sites. */
export function mayWrite(ctx: Context, { orgId, partnerId }: Owner): void {
  const { scope } = ctx;
  if (scope.siteIds || scope.groupIds) throw OutOfScope();
  if (orgId) mustAccessOrg(ctx, orgId);
  if (!partnerId || scope.kind === 'system') return;
  if (scope.kind !== 'partner' || scope.partnerId !== partnerId)
    throw errors.Forbidden("Only the partner's own users may write its fields");
  mustReachAllOrgs(ctx);
}
