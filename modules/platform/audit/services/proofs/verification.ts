/** Verification of the trail: recomputes the chain of one owner. */
import type { Context } from '#core';
import { trailOf, verifyChain } from '#core/audit';
import type { VerifyQuery } from '../../models/verdict.ts';
import { ownerFor } from '../owners.ts';

/** All of the chain, or the rows between two times. Throws 403 for an organization out of reach. */
export async function verifyTrail(ctx: Context, { orgId, from, to }: VerifyQuery) {
  return { data: await verifyChain(trailOf(ctx), ownerFor(ctx, orgId), { from, to }) };
}
