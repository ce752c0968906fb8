/** Members without an invitation: an identity provider authenticates them. */
import type { Context } from '#core';
import joined from '../events/joined.ts';
import { join, type Membership } from './associations.ts';
import { entryOf } from './tenants.ts';

/**
 * Adds an active user to the organization with access to all of it; an existing membership is left unchanged. Null when the
 * organization does not have the role, or the user is not active. Needs the platform's role.
 */
export async function addMember(
  ctx: Context,
  { orgId, userId, roleId }: { orgId: string; userId: string; roleId: string },
): Promise<Membership | null> {
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
  // A member needs no invitation.
  await ctx.sql('delete from invitations where org_id = $1 and email = lower($2)', [orgId, user.email]);
  const actor = { kind: 'user' as const, id: userId, email: user.email };
  ctx.audit('user.provision', { ...entryOf(tenant, actor, { roleId: place.roleId }), actor });
  ctx.emit(joined, { userId, roleId: place.roleId, partnerId: null }, { orgId });
  return place;
}
