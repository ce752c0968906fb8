/** The one route of the shade. */
import Joi from 'joi';
import { defineRoute } from '#core';

export default [
  defineRoute({
    method: 'GET',
    path: '/shades',
    summary: 'Says that shades are on',
    access: { permission: 'scripts:read' },
    response: Joi.object({ ok: Joi.boolean() }),
    handler: () => ({ ok: true }),
  }),
];
