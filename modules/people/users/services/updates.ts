/** Changing a user: the membership in this tenant, and the account when no other tenant shares it. */
import { type Context, changesOf, errors, keepAdministrators, type TenantRef, targetTenant } from '#core';
import { InvitationPending } from '../errors.ts';
import { Invitation } from '../models/invitation.ts';
import type { LimitFields } from '../models/limits.ts';
import type { Member, MemberUpdate } from '../models/member.ts';
import { changeAccount } from './accounts.ts';
import { regrant } from './associations.ts';
import { checkLimits } from './limits.ts';
import { mustFind, showFound } from './members.ts';
import { mustOutrank } from './ranks.ts';
import { entryOf } from './tenants.ts';

/**
 * Throws NO_UPDATES, INVALID_STATE for the status of an invitation, and what changeAccount() and checkLimits() throw.
 * Needs the platform's role.
 */
export async function updateUser(ctx: Context, id: string, input: MemberUpdate) {
  const { orgId, partnerId, name, status, ...limits } = input;
  const tenant = targetTenant(ctx, input);
  const member = await mustFind(ctx, tenant, id);
  const wantsLimits = Object.keys(limits).length > 0;
  if (name === undefined && status === undefined && !wantsLimits) throw errors.NoUpdates();
  await mustOutrank(ctx, member);
  const changed: string[] = [];
  // Lock order: the user's row before the tenant's lock, everywhere.
  if (!member.invitationExpiresAt) {
    if (name !== undefined || status !== undefined) {
      changed.push(...(await changeAccount(ctx, tenant, member, { name, status })));
    }
  } else {
    if (status !== undefined) throw InvitationPending();
    if (name !== undefined && name !== member.name) changed.push(await renameInvitation(ctx, id, name));
  }
  if (wantsLimits) changed.push(...(await changeLimits(ctx, tenant, member, limits)));
  if (changed.length === 0) ctx.unchanged();
  else ctx.audit('user.update', entryOf(tenant, member, { ...changesOf(member, { ...member, ...input }, changed) }));
  return showFound(ctx, tenant, id);
}

async function renameInvitation(ctx: Context, id: string, name: string): Promise<'name'> {
  const renamed = await Invitation.in(ctx).findById(id).patch({ name, updatedAt: new Date() });
  if (renamed === 0) throw errors.InvalidState('The user accepted at the same time; reload and try again');
  return 'name';
}

/** @returns the fields that changed */
async function changeLimits(
  ctx: Context,
  tenant: TenantRef,
  member: Member,
  input: LimitFields,
): Promise<(keyof LimitFields)[]> {
  const next = await checkLimits(ctx, tenant, input, member);
  const fields = (['siteIds', 'deviceGroupIds', 'orgAccess', 'orgIds'] as const).filter(
    (field) => JSON.stringify(next[field]) !== JSON.stringify(member[field]),
  );
  if (fields.length === 0) return [];
  const tenants = member.invitationExpiresAt ? [] : [tenant];
  await keepAdministrators(ctx, tenants, () => regrant(ctx, tenant, member, { ...next, roleId: member.roleId }));
  return fields;
}
