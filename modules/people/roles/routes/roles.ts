/** /roles: listing, creating, changing, copying and removing roles. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import {
  effectivePair,
  roleClone,
  roleCreate,
  roleDetail,
  roleShape,
  roleUpdate,
  type TenantNamed,
} from '../models/role.ts';
import { holderShape } from '../models/role-holder.ts';
import { cloneRole, createRole } from '../services/new-roles.ts';
import { readAvailable } from '../services/permissions.ts';
import { deleteRole } from '../services/removals.ts';
import { listHolders } from '../services/role-holders.ts';
import { listRoles, readEffective, readRole, updateRole } from '../services/roles.ts';

interface ById {
  id: string;
}
const params = Joi.object<ById>({ id: Joi.string().uuid().required() });
const read = { permission: 'users:read' };
const write = { permission: 'users:write', mfa: true, apiKey: false };

export default [
  defineRoute({
    method: 'GET',
    path: '/roles',
    summary: 'Lists built-in and custom roles by name, with their number of users',
    access: read,
    query: Joi.object<PageQuery & TenantNamed>({
      ...pageQuery(1000, 1000),
      orgId: Joi.string().uuid().description('The roles that exist in this organization, and its users'),
      partnerId: Joi.string().uuid().description('The roles of this partner, and its users'),
    }),
    response: pageOf(roleShape),
    handler: (ctx, { query }) => listRoles(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/roles/permissions/available',
    summary: 'Lists the resources and actions that permissions are made of',
    access: read,
    response: Joi.object({
      resources: Joi.array().items(Joi.string()).required(),
      actions: Joi.array().items(Joi.string()).required(),
    }),
    handler: (ctx) => readAvailable(ctx),
  }),
  defineRoute({
    method: 'GET',
    path: '/roles/{id}',
    summary: 'Reads a role with its direct permissions',
    access: read,
    params,
    response: roleDetail,
    handler: (ctx, { params: { id } }) => readRole(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/roles',
    summary: 'Creates a role in the scope of the caller',
    access: write,
    audit: 'role.create',
    payload: roleCreate,
    response: roleDetail,
    status: 201,
    errors: ['NOT_FOUND', 'SITE_ACCESS_DENIED', 'NAME_TAKEN', 'ROLE_TOO_DEEP', 'ROLE_LIMIT_REACHED'],
    handler: (ctx, { payload }) => createRole(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/roles/{id}',
    summary: 'Changes a role that is not built in',
    access: write,
    audit: 'role.update',
    params,
    payload: roleUpdate,
    response: roleDetail,
    errors: ['SITE_ACCESS_DENIED', 'NO_UPDATES', 'NAME_TAKEN', 'ROLE_CYCLE', 'ROLE_TOO_DEEP', 'LAST_ADMINISTRATOR'],
    handler: (ctx, { params: { id }, payload }) => updateRole(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/roles/{id}',
    summary: 'Deletes a role that is not built in and not in use',
    access: { permission: 'users:delete', mfa: true, apiKey: false },
    audit: 'role.delete',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['SITE_ACCESS_DENIED', 'ROLE_IN_USE'],
    handler: (ctx, { params: { id } }) => deleteRole(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/roles/{id}/clone',
    summary: 'Copies a built-in or custom role into a new one',
    access: write,
    audit: 'role.clone',
    params,
    payload: roleClone,
    response: roleDetail,
    status: 201,
    errors: ['SITE_ACCESS_DENIED', 'NAME_TAKEN', 'ROLE_LIMIT_REACHED'],
    handler: (ctx, { params: { id }, payload }) => cloneRole(ctx, id, payload),
  }),
  defineRoute({
    method: 'GET',
    path: '/roles/{id}/users',
    summary: 'Lists the users who have a role, by name, once for each place',
    access: read,
    params,
    query: Joi.object<PageQuery>(pageQuery(1000, 1000)),
    response: pageOf(holderShape),
    handler: (ctx, { params: { id }, query }) => listHolders(ctx, id, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/roles/{id}/effective-permissions',
    summary: 'Lists direct and inherited permissions, each with its source role',
    access: read,
    params,
    response: Joi.object({ data: Joi.array().items(effectivePair).required() }),
    handler: (ctx, { params: { id } }) => readEffective(ctx, id),
  }),
];
