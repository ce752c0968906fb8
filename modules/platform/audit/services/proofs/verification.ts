/** Verification of the trail: recomputes the chain of one owner. */
import { type Context, mustReachWholeOrg } from '#core';
import { trailOf, verifyChain } from '#core/audit';
import type { VerifyQuery } from '../../models/verdict.ts';
import { ownerFor } from '../owners.ts';

/**
 * All of the chain, or the rows between two times. Throws 403 for an organization out of reach, and to callers who see only a
 * part of it.
 */
export async function verifyTrail(ctx: Context, { orgId, from, to }: VerifyQuery) {
  mustReachWholeOrg(ctx);
  return {
    data: await verifyChain(trailOf(ctx), ownerFor(ctx, orgId), { from, to }),
  };
}
