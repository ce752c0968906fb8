/** POST /targets/preview: for whom, checked, counted. */
import { type Context, errors, mustReachAllOrgs, mustReachOrg, type Target } from '#core';
import type { TargetOwner, TargetPreview } from '../models/resolved.ts';
import { checkTarget } from './checks.ts';
import { preview } from './previews.ts';

interface Wanted {
  target: Target;
  orgId?: string;
  partnerId?: string;
}

export async function previewFor(ctx: Context, { target, ...named }: Wanted): Promise<{ data: TargetPreview }> {
  const owner = ownerIn(ctx, named);
  return { data: await preview(ctx, await checkTarget(ctx, target, owner), owner) };
}

/** Throws 400 ORG_REQUIRED, and 403 or 404 for one out of reach. */
function ownerIn(ctx: Context, { orgId, partnerId }: Omit<Wanted, 'target'>): TargetOwner {
  const { scope } = ctx;
  if (partnerId && !orgId) {
    if (scope.kind !== 'system' && scope.partnerId !== partnerId) throw errors.NotFound('Partner not found');
    mustReachAllOrgs(ctx);
    return { orgId: null, partnerId };
  }
  const org = orgId ?? scope.orgId;
  if (!org || partnerId) throw errors.OrgRequired();
  mustReachOrg(ctx, org);
  return { orgId: org, partnerId: null };
}
