/** /users: members of a tenant. The caller's own profile is in the identity module. */
import Joi from 'joi';
import { defineRoute, searchText, trackedPageOf, trackedQuery } from '#core';
import { type NamedTenant, namedTenant } from '../models/invitation.ts';
import {
  assignableShape,
  type MemberQuery,
  memberShape,
  memberUpdate,
  roleAssignment,
  STATUSES,
} from '../models/member.ts';
import { resetFactors } from '../services/factor-resets.ts';
import { listAssignable, listMembers, readMember } from '../services/members.ts';
import { removeUser } from '../services/removals.ts';
import { assignRole } from '../services/role-assignments.ts';
import { updateUser } from '../services/updates.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const named = Joi.object<NamedTenant, true>(namedTenant);
const read = { permission: 'users:read' };

export default [
  defineRoute({
    method: 'GET',
    path: '/users',
    summary: 'Lists members and invited persons of a tenant by name, or changes since a cursor',
    access: read,
    query: Joi.object<MemberQuery>({
      ...trackedQuery(1000, 1000),
      ...namedTenant,
      status: Joi.string()
        .valid(...STATUSES)
        .description('Only in this state'),
      search: searchText(255).description('Part of the name or the address'),
      roleId: Joi.string().uuid().description('Only users with this role'),
    }),
    response: trackedPageOf(memberShape),
    errors: ['INVALID_CURSOR', 'CURSOR_EXPIRED'],
    handler: (ctx, { query }) => listMembers(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/users/roles',
    summary: 'Lists the roles that can be assigned in the tenant, by name',
    access: read,
    query: named,
    response: Joi.object({ data: Joi.array().items(assignableShape).required() }),
    handler: (ctx, { query }) => listAssignable(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/users/{id}',
    summary: 'Reads a user of the tenant, or an invitation to it',
    access: read,
    params,
    query: named,
    response: memberShape,
    handler: (ctx, { params: { id }, query }) => readMember(ctx, id, query),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/users/{id}',
    summary: 'Changes name, status or limits of a user; disabling ends every session',
    description: 'Changing name or status requires that the caller administers every tenant of the user.',
    access: { permission: 'users:write' },
    audit: 'user.update',
    work: { platform: 'the tenant role cannot read accounts and sessions; limited to a user of the tenant' },
    params,
    payload: memberUpdate,
    response: memberShape,
    errors: [
      'NO_UPDATES',
      'USER_SHARED',
      'OWN_ACCOUNT',
      'LAST_ADMINISTRATOR',
      'INVALID_STATE',
      'SITE_ACCESS_DENIED',
      'TARGET_OUT_OF_SCOPE',
    ],
    handler: (ctx, { params: { id }, payload }) => updateUser(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/users/{id}',
    summary: 'Removes a user from the tenant, or withdraws an invitation; the account remains',
    access: { permission: 'users:delete' },
    audit: 'user.remove',
    work: { platform: 'the tenant role cannot read sessions; limited to a user of the tenant' },
    params,
    query: named,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['OWN_ACCOUNT', 'LAST_ADMINISTRATOR', 'INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, query }) => removeUser(ctx, id, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/users/{id}/role',
    summary: 'Assigns another role to a user of the tenant',
    access: { permission: 'users:write', mfa: true },
    audit: 'user.role.assign',
    params,
    payload: roleAssignment,
    response: memberShape,
    errors: ['LAST_ADMINISTRATOR', 'INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, payload }) => assignRole(ctx, id, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/users/{id}/reset-mfa',
    summary:
      'Removes the second factor, phone, passkeys and recovery codes of a user who lost them; ends every session',
    description:
      'Requires a login within the last 15 minutes, and that the caller administers every tenant of the user. The password stays. A system administrator who names no tenant may name any account.',
    access: { permission: 'users:write', mfa: true, apiKey: false },
    audit: 'user.mfa.reset',
    work: { platform: 'the tenant role cannot change accounts; limited to a user of the tenant' },
    limits: [{ name: 'reset-mfa', max: 20, windowSeconds: 3600, by: 'actor' }],
    params,
    payload: Joi.object<NamedTenant | null, false>(namedTenant).allow(null),
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: [
      ...['OWN_ACCOUNT', 'USER_SHARED', 'INVALID_STATE', 'REAUTHENTICATION_REQUIRED'],
      ...['SITE_ACCESS_DENIED', 'TARGET_OUT_OF_SCOPE', 'RATE_LIMITED'],
    ],
    handler: (ctx, { params: { id }, payload }) => resetFactors(ctx, id, payload ?? {}),
  }),
];
