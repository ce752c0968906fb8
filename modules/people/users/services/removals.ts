/** Removing a user from a tenant; the account remains and can be invited again. */
import { type Context, keepAdministrators, type TenantRef, targetTenant } from '#core';
import { OwnAccount } from '../errors.ts';
import removed from '../events/removed.ts';
import type { NamedTenant } from '../models/invitation.ts';
import type { Member } from '../models/member.ts';
import { remove } from './associations.ts';
import { membersOf, mustFind } from './members.ts';
import { mustOutrank } from './ranks.ts';
import { entryOf } from './tenants.ts';

/** Throws OWN_ACCOUNT, LAST_ADMINISTRATOR, and 403 for a user who may do more than the caller. Needs the platform's role. */
export async function removeUser(ctx: Context, id: string, named: NamedTenant): Promise<{ success: true }> {
  const tenant = targetTenant(ctx, named);
  const member = await mustFind(ctx, tenant, id);
  if (id === ctx.actor.id) throw OwnAccount();
  await mustOutrank(ctx, member);
  if (member.invitationExpiresAt) await withdraw(ctx, tenant, member);
  else await takeOut(ctx, tenant, member);
  return { success: true };
}

/**
 * For modules that decide about memberships, after their own checks of the caller. False for a user who is not a member.
 * Throws LAST_ADMINISTRATOR. Needs the platform's role.
 */
export async function removeMember(ctx: Context, tenant: TenantRef, userId: string): Promise<boolean> {
  const member = await membersOf(ctx, tenant).where('members.id', userId).whereNull('invitationExpiresAt').first();
  if (!member) return false;
  await takeOut(ctx, tenant, member);
  return true;
}

async function withdraw(ctx: Context, tenant: TenantRef, member: Member): Promise<void> {
  await remove(ctx, tenant, member);
  ctx.audit('user.remove', entryOf(tenant, member, { invitation: true, roleId: member.roleId }));
}

async function takeOut(ctx: Context, tenant: TenantRef, member: Member): Promise<void> {
  await keepAdministrators(ctx, [tenant], () => remove(ctx, tenant, member));
  await ctx.use('identity').endSessions(member.id, tenant);
  ctx.audit('user.remove', entryOf(tenant, member, { roleId: member.roleId }));
  ctx.emit(removed, { userId: member.id, partnerId: tenant.partnerId }, { orgId: tenant.orgId });
}
