/** Members of a tenant: listing, inviting, changing and removing users, and accepting invitations. */
import { defineModule } from '#core';
import { api } from './api.ts';
import { acceptance, check, invitationShape, inviteCreate, resend } from './models/invitation.ts';
import type { DeviceGroupDirectory } from './models/limits.ts';
import { assignableShape, memberShape, memberUpdate, roleAssignment } from './models/member.ts';

declare module '#core/contract' {
  interface Slots {
    'users.device-groups': DeviceGroupDirectory;
  }
}

export default defineModule({
  name: 'users',
  title: 'Users and invitations',
  summary: 'The members of a tenant, their roles and limits, and invitations',
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
