/** Users cannot change other users who may do more, or reach further, than they do themselves. */
import { type Context, errors, mustHold } from '#core';
import type { Limits } from '../models/limits.ts';
import { reachesAsFar } from './limits.ts';

/** Throws 403 for a user whose role grants what the caller does not hold, or whose limits are wider. */
export async function mustOutrank(ctx: Context, member: Limits & { roleId: string }): Promise<void> {
  if (!reachesAsFar(ctx, member)) throw errors.TargetOutOfScope();
  mustHold(ctx, await ctx.use('roles').permissionsOf(member.roleId), 'id');
}
