/** Things that an organization has, or a partner for all of its organizations: whose one is, and who may write it. */
import type { Context } from '../context/index.ts';
import { defineError, Forbidden } from '../errors.ts';
import { mustAccessOrg, mustReachAllOrgs, mustReachWholeOrg } from './reach.ts';

const OwnerRequired = defineError('OWNER_REQUIRED', 400, 'Exactly one of orgId and partnerId is required');

/** Exactly one of them is set. */
export interface Owner {
  orgId: string | null;
  partnerId: string | null;
}

/** The owner named in something new; an organization's own users need not name theirs. Throws OWNER_REQUIRED. */
export function ownerOf(ctx: Context, named: { orgId?: string; partnerId?: string }): Owner {
  const orgId = named.orgId ?? (named.partnerId ? undefined : ctx.scope.orgId);
  if (Boolean(orgId) === Boolean(named.partnerId)) throw OwnerRequired();
  const owner = { orgId: orgId ?? null, partnerId: named.partnerId ?? null };
  mustWriteFor(ctx, owner);
  return owner;
}

/** Throws 403: objects of a partner are for its users with access to all organizations and without a limit to sites. */
export function mustWriteFor(ctx: Context, { orgId, partnerId }: Owner): void {
  const { scope } = ctx;
  mustReachWholeOrg(ctx);
  if (orgId) mustAccessOrg(ctx, orgId);
  if (!partnerId || scope.kind === 'system') return;
  if (scope.kind !== 'partner' || scope.partnerId !== partnerId)
    throw Forbidden("Only the partner's own users may write this");
  mustReachAllOrgs(ctx);
}
