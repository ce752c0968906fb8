/** Proof that nobody altered the trail: recomputes the chain of one owner. */
import { type Context, mustAccessOrg, mustReachAllOrgs, verifyChain } from '#core';

/** The organization named, else the caller's own, else the partner's rows, else the platform's. */
function ownerFor(ctx: Context, named: string | undefined): string {
  const orgId = named ?? ctx.scope.orgId;
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    return `org:${orgId}`;
  }
  mustReachAllOrgs(ctx);
  return ctx.scope.partnerId ? `partner:${ctx.scope.partnerId}` : 'platform';
}

/** Walks the whole chain, a thousand rows at a time. Throws 403 for an organization out of reach. */
export async function verifyTrail(ctx: Context, orgId: string | undefined) {
  const owner = ownerFor(ctx, orgId);
  return { data: await verifyChain({ query: ctx.sql }, owner) };
}
