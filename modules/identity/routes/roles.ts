/** /roles and /permissions/catalog, for reading (spec/1-identity, Roles). */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { catalogEntry, roleDetail, roleShape } from '../models/role.ts';
import { listRoles, readAvailable, readCatalog, readRole } from '../services/roles.ts';

const access = { permission: 'users:read' };

export default [
  defineRoute({
    method: 'GET',
    path: '/roles',
    summary: 'Lists built-in and own roles with the number of their users, by name',
    access,
    query: Joi.object<PageQuery>(pageQuery()),
    response: pageOf(roleShape),
    handler: (ctx, { query }) => listRoles(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/roles/permissions/available',
    summary: 'Lists the resources and actions that permissions are made of',
    access,
    response: Joi.object({
      resources: Joi.array().items(Joi.string()).required(),
      actions: Joi.array().items(Joi.string()).required(),
    }),
    handler: (ctx) => readAvailable(ctx),
  }),
  defineRoute({
    method: 'GET',
    path: '/roles/{id}',
    summary: 'Reads a role with its own permissions',
    access,
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    response: roleDetail,
    handler: (ctx, { params: { id } }) => readRole(ctx, id),
  }),
  defineRoute({
    method: 'GET',
    path: '/permissions/catalog',
    summary: 'Lists every permission that a role can be given',
    access,
    response: Joi.object({ data: Joi.array().items(catalogEntry).required() }),
    handler: (ctx) => readCatalog(ctx),
  }),
];
