/** Assigning another role to a member or an invitation. */
import { type Context, keepAdministrators, targetTenant } from '#core';
import roleChanged from '../events/role/changed.ts';
import { type RoleAssignment, showMember } from '../models/member.ts';
import { regrant } from './associations.ts';
import { mustFind, showFound } from './members.ts';
import { mustOutrank } from './ranks.ts';
import { entryOf } from './tenants.ts';

/** Throws 404 for a role of another tenant, 403 for one that the caller may not assign or take, LAST_ADMINISTRATOR. */
export async function assignRole(ctx: Context, id: string, input: RoleAssignment) {
  const tenant = targetTenant(ctx, input);
  const member = await mustFind(ctx, tenant, id);
  await mustOutrank(ctx, member);
  const role = await ctx.use('roles').mustAssign(input.roleId, tenant);
  if (role.id === member.roleId) {
    ctx.unchanged();
    return showMember(member);
  }
  const tenants = member.invitationExpiresAt ? [] : [tenant];
  await keepAdministrators(ctx, tenants, () => regrant(ctx, tenant, member, { ...member, roleId: role.id }));
  ctx.audit(
    'user.role.assign',
    entryOf(tenant, member, {
      from: { roleId: member.roleId, roleName: member.roleName },
      to: { roleId: role.id, roleName: role.name },
    }),
  );
  const { email, roleName } = member;
  const from = roleName ?? 'none';
  const { orgId, partnerId } = tenant;
  if (!member.invitationExpiresAt) {
    ctx.emit(roleChanged, { userId: member.id, email, from, to: role.name, partnerId }, { orgId });
  }
  return showFound(ctx, tenant, id);
}
