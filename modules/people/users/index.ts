/** Members of a tenant: listing, inviting, changing and removing users, and accepting invitations. */
import { type Context, defineModule, type TenantRef } from '#core';
import { takeInvitation } from './services/acceptances.ts';
import { addMember } from './services/provisions.ts';
import { removeMember } from './services/removals.ts';

// All of it needs the platform's role.
const api = (ctx: Context) => ({
  /**
   * Creates the membership that a pending invitation of the organization grants to this address, and consumes the
   * invitation; returns the place, or null without an invitation. The caller has proven that the address is the user's.
   * Throws INVITATION_INVALID for an inactive user.
   */
  takeInvitation: (who: { orgId: string; email: string; userId: string }) => takeInvitation(ctx, who),
  /**
   * Adds an active user to the organization with access to all of it; returns the place (the existing one for a member), or
   * null for a role that the organization does not have. Records user.provision.
   */
  addMember: (who: { orgId: string; userId: string; roleId: string }) => addMember(ctx, who),
  /**
   * Does what DELETE /users/{id} does, without its checks of the caller: deletes the membership and ends the sessions there.
   * False for a user who is not a member. Records user.remove. Throws LAST_ADMINISTRATOR.
   */
  removeMember: (tenant: TenantRef, userId: string) => removeMember(ctx, tenant, userId),
});

declare module '#core/contract' {
  interface Apis {
    users: ReturnType<typeof api>;
  }
}

export default defineModule({
  name: 'users',
  title: 'Users and invitations',
  summary: 'The members of a tenant, their roles and limits, and invitations',
  requires: ['tenancy', 'identity', 'roles'],
  core: true,
  auditOnly: ['user.create', 'user.provision'],
  api,
});
