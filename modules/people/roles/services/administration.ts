/** Who may change roles, and that the changes of one tenant take turns. */
import { type Context, errors, mustReachAllOrgs, type TenantRef } from '#core';
import { Role } from '../models/role.ts';
import { mustSee } from './visible.ts';

/** A role counts in the whole tenant, so whoever is limited to a part of it changes none. Throws 403. */
export function mustAdminister(ctx: Context): void {
  mustReachAllOrgs(ctx);
  if (ctx.scope.siteIds || ctx.scope.groupIds) throw errors.SiteAccessDenied();
}

/** One change of a tenant's roles at a time, until it commits: names, numbers and inheritance span rows. */
export async function takeTurn(ctx: Context, { orgId, partnerId }: TenantRef): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`roles:${orgId ?? partnerId}`]);
}

/**
 * The role, held for a change. Deleting also waits for whoever is just giving it to somebody, and makes others wait.
 * Throws 404, and 403 for what is built in.
 */
export async function holdForChange(ctx: Context, id: string, verb: 'modify' | 'delete'): Promise<Role> {
  mustAdminister(ctx);
  const seen = await mustSee(ctx, id);
  if (seen.isSystem) throw errors.Forbidden(`Cannot ${verb} system roles`);
  await takeTurn(ctx, seen);
  const query = Role.in(ctx).findById(id);
  const role = await (verb === 'delete' ? query.forUpdate() : query.forNoKeyUpdate());
  if (!role) throw errors.NotFound('Role not found');
  return role;
}
