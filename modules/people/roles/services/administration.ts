/** Who may change roles, and the lock that serializes the changes of one tenant. */
import { type Context, errors, mustReachAllOrgs, type TenantRef } from '#core';
import { Role } from '../models/role.ts';
import { mustSee } from './visible.ts';

/** A role applies to the whole tenant, so callers limited to a part of it may change none. Throws 403. */
export function mustAdminister(ctx: Context): void {
  mustReachAllOrgs(ctx);
  if (ctx.scope.siteIds || ctx.scope.groupIds) throw errors.SiteAccessDenied();
}

/** Serializes changes to a tenant's roles until commit: names, limits and inheritance span rows. */
export async function takeTurn(ctx: Context, { orgId, partnerId }: TenantRef): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`roles:${orgId ?? partnerId}`]);
}

/**
 * The role, locked for a change. A deletion also waits for concurrent assignments, and blocks new ones.
 * Throws 404, and 403 for a built-in role.
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
