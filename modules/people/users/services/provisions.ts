/** Members that nobody invited: an identity provider vouches for them. */
import type { Context } from '#core';
import { join, type Place } from './associations.ts';
import { entryOf } from './tenants.ts';

/**
 * Places an active user in the organization with access to all of it; a member stays as they are. Null when the role is
 * none of the organization's, or the user is not active. Needs platform work.
 */
export async function addMember(
  ctx: Context,
  { orgId, userId, roleId }: { orgId: string; userId: string; roleId: string },
): Promise<Place | null> {
  const tenant = { orgId, partnerId: null };
  const roles = await ctx.use('roles').assignable(tenant);
  if (!roles.some(({ id }) => id === roleId)) return null;
  const { rows } = await ctx.sql<{ email: string; member: boolean }>(
    `select email, exists (select from organization_users where user_id = users.id and org_id = $2) as member
     from users where id = $1 and status = 'active' for share`,
    [userId, orgId],
  );
  const [user] = rows;
  if (!user) return null;
  const grant = { roleId, siteIds: null, deviceGroupIds: null, orgAccess: null, orgIds: [] };
  const place = await join(ctx, tenant, userId, grant);
  if (user.member) return place;
  // Whoever is in needs no invitation any more.
  await ctx.sql('delete from invitations where org_id = $1 and email = lower($2)', [orgId, user.email]);
  const actor = { kind: 'user' as const, id: userId, email: user.email };
  ctx.audit('user.provision', { ...entryOf(tenant, actor, { roleId: place.roleId }), actor });
  ctx.emit('users.joined', { userId, roleId: place.roleId, partnerId: null }, { orgId });
  return place;
}
