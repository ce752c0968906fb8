/** Nobody changes whoever may do more or reaches further than they do themselves. */
import { type Context, mustHold } from '#core';
import type { Limits } from '../models/limits.ts';
import { OutOfScope } from '../models/refusals.ts';
import { reachesAsFar } from './limits.ts';

/** Throws 403 for somebody whose role grants what the caller does not hold, or who is limited to less. */
export async function mustOutrank(ctx: Context, member: Limits & { roleId: string }): Promise<void> {
  if (!reachesAsFar(ctx, member)) throw OutOfScope();
  mustHold(ctx, await ctx.use('roles').permissionsOf(member.roleId), 'id');
}
