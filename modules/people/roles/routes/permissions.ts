/** /permissions/catalog: every permission that a role may have. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { catalogEntry } from '../models/role.ts';
import { readOffered } from '../services/permissions.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/permissions/catalog',
    summary: 'Lists every permission that a role may have',
    access: { permission: 'users:read' },
    response: Joi.object({ data: Joi.array().items(catalogEntry).required() }),
    handler: (ctx) => readOffered(ctx),
  }),
];
