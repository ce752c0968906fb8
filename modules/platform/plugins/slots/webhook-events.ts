/** Our own events as webhooks and other plugins see them. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default [
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'plugins.event',
      kind: 'plugin.event',
      summary: 'A plugin told something',
      shape: Joi.object({
        installationId: Joi.string().uuid().required(),
        slug: Joi.string().required(),
        name: Joi.string().required(),
        data: Joi.object().unknown().required().description('What the plugin says'),
      }),
      example: {
        installationId: '7c9e6679-7425-40de-944b-000000000001',
        slug: 'asset-notes',
        name: 'noted',
        data: { notes: 3 },
      },
      snapshot: ({ installationId, slug, name, data }: Events['plugins.event']) => ({
        installationId,
        slug,
        name,
        data,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'plugins.quarantined',
      kind: 'plugin.quarantined',
      summary: 'A plugin was switched off because it misbehaves',
      shape: Joi.object({
        installationId: Joi.string().uuid().required(),
        slug: Joi.string().required(),
        reason: Joi.string().required(),
      }),
      example: {
        installationId: '7c9e6679-7425-40de-944b-000000000001',
        slug: 'asset-notes',
        reason: 'It failed five times in ten minutes',
      },
      snapshot: ({ installationId, slug, reason }: Events['plugins.quarantined']) => ({ installationId, slug, reason }),
    },
  }),
];
