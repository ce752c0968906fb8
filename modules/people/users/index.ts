/** Who belongs to a tenant: listing, inviting, changing and removing users, and accepting invitations. */
import { type Context, defineModule, type TenantRef } from '#core';
import { acceptance, check, invitationShape, inviteCreate, resend } from './models/invitation.ts';
import type { DeviceGroupDirectory } from './models/limits.ts';
import { assignableShape, memberShape, memberUpdate, roleAssignment } from './models/member.ts';
import { takeInvitation } from './services/acceptances.ts';
import { addMember } from './services/provisions.ts';
import { removeMember } from './services/removals.ts';

// All of it needs platform work.
const api = (ctx: Context) => ({
  /**
   * Makes the association that a pending invitation of the organization promises to this address, and uses the
   * invitation up; the place, or null without one. The caller has proven that the address is the user's. Throws
   * INVITATION_INVALID for a user who is not active.
   */
  takeInvitation: (who: { orgId: string; email: string; userId: string }) => takeInvitation(ctx, who),
  /**
   * Places an active user in the organization, with access to all of it; the place (that of before for a member), or null
   * for a role that is none of the organization's. Records user.provision.
   */
  addMember: (who: { orgId: string; userId: string; roleId: string }) => addMember(ctx, who),
  /**
   * What DELETE /users/{id} does, without its checks of the caller: the association goes and the sessions there end.
   * False for who is no member. Records user.remove. Throws LAST_ADMINISTRATOR.
   */
  removeMember: (tenant: TenantRef, userId: string) => removeMember(ctx, tenant, userId),
});

declare module '#core/contract' {
  interface Apis {
    users: ReturnType<typeof api>;
  }
  interface Slots {
    'users.device-groups': DeviceGroupDirectory;
  }
  /** `partnerId` is set where the tenant is a partner; the event then has no organization. */
  interface Events {
    'users.invited': { invitationId: string; roleId: string; partnerId: string | null };
    'users.joined': { userId: string; roleId: string; partnerId: string | null };
    'users.role.changed': { userId: string; email: string; from: string; to: string; partnerId: string | null };
    'users.removed': { userId: string; partnerId: string | null };
  }
}

export default defineModule({
  name: 'users',
  title: 'Users and invitations',
  summary: 'Who belongs to a tenant, with which role and limits, and how people get there',
  requires: ['tenancy', 'identity', 'roles'],
  core: true,
  permissions: ['users:read', 'users:write', 'users:delete', 'users:invite'],
  audits: [
    'user.create',
    'user.invite',
    'user.invite.accept',
    'user.invite.resend',
    'user.provision',
    'user.remove',
    'user.role.assign',
    'user.update',
  ],
  events: ['users.invited', 'users.joined', 'users.role.changed', 'users.removed'],
  slots: ['users.device-groups'],
  steadySlots: ['users.device-groups'],
  schemas: {
    AssignableRole: assignableShape,
    Invitation: invitationShape,
    InvitationAcceptance: acceptance,
    InvitationCheck: check,
    InvitationCreate: inviteCreate,
    InvitationResend: resend,
    RoleAssignment: roleAssignment,
    User: memberShape,
    UserUpdate: memberUpdate,
  },
  api,
});
