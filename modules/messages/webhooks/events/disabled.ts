/** A webhook was switched off because its deliveries fail; it sends nothing until it is activated or a test of it succeeds. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Disabled {
  webhookId: string;
  partnerId: string | null;
  name: string;
  reason: string;
  consecutiveFailures: number;
}

export default defineEvent({
  summary: 'A webhook was switched off because it fails',
  data: Joi.object<Disabled>({
    webhookId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    name: Joi.string().required(),
    reason: Joi.string().required(),
    consecutiveFailures: Joi.number().integer().required(),
  }),
  example: {
    webhookId: '7c9e6679-7425-40de-944b-000000000001',
    partnerId: null,
    name: 'Ticketing',
    reason: 'failures',
    consecutiveFailures: 20,
  },
  webhook: {
    kind: 'webhook.disabled',
    pick: ['webhookId', 'name', 'reason', 'consecutiveFailures'],
  },
  notice: {
    tell: {
      type: 'system',
      priority: 'high',
      permission: 'organizations:read',
      render: ({ webhookId, partnerId, name, consecutiveFailures }) => ({
        title: `Webhook switched off: ${name}`,
        message: `${consecutiveFailures} deliveries in a row failed. Nothing is sent to it until it is set active again.`,
        link: `/webhooks/${webhookId}`,
        metadata: { webhookId },
        dedupeKey: `webhook:${webhookId}`,
        partnerId,
      }),
    },
  },
});
