/** Our own events as webhooks show them; other webhooks of the organization may listen. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default [
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'webhooks.disabled',
      kind: 'webhook.disabled',
      summary: 'A webhook was switched off because it fails',
      shape: Joi.object({
        webhookId: Joi.string().uuid().required(),
        name: Joi.string().required(),
        reason: Joi.string().required(),
        consecutiveFailures: Joi.number().integer().required(),
      }),
      example: {
        webhookId: '7c9e6679-7425-40de-944b-000000000001',
        name: 'Ticketing',
        reason: 'failures',
        consecutiveFailures: 20,
      },
      snapshot: ({ webhookId, name, reason, consecutiveFailures }: Events['webhooks.disabled']) => ({
        webhookId,
        name,
        reason,
        consecutiveFailures,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'webhooks.failing',
      kind: 'webhook.failing',
      summary: 'Deliveries of a webhook fail in a row',
      shape: Joi.object({
        webhookId: Joi.string().uuid().required(),
        name: Joi.string().required(),
        consecutiveFailures: Joi.number().integer().required(),
      }),
      example: { webhookId: '7c9e6679-7425-40de-944b-000000000001', name: 'Ticketing', consecutiveFailures: 5 },
      snapshot: ({ webhookId, name, consecutiveFailures }: Events['webhooks.failing']) => ({
        webhookId,
        name,
        consecutiveFailures,
      }),
    },
  }),
];
