/** /sso/presets: settings of well-known identity providers. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { presetShape } from '../models/preset.ts';
import { listPresets } from '../services/presets.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/sso/presets',
    summary: 'Lists common identity providers with their settings, and the callback URL to register',
    access: { permission: 'organizations:read' },
    response: Joi.object({
      data: Joi.array().items(presetShape).required(),
      callbackUrl: Joi.string().required().description('The redirect URI to register with the provider'),
    }),
    handler: (ctx) => listPresets(ctx),
  }),
];
