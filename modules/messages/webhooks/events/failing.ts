/** Emitted at 5, 10 and 15 consecutive failed deliveries of a webhook. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface Failing {
  webhookId: string;
  partnerId: string | null;
  name: string;
  consecutiveFailures: number;
}

export default defineEvent({
  summary: 'Deliveries of a webhook fail in a row',
  data: Joi.object<Failing>({
    webhookId: Joi.string().uuid().required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    name: Joi.string().required(),
    consecutiveFailures: Joi.number().integer().required(),
  }),
  example: {
    webhookId: '7c9e6679-7425-40de-944b-000000000001',
    partnerId: null,
    name: 'Ticketing',
    consecutiveFailures: 5,
  },
  webhook: {
    kind: 'webhook.failing',
    pick: ['webhookId', 'name', 'consecutiveFailures'],
  },
  notice: {
    tell: {
      type: 'system',
      priority: 'low',
      permission: 'organizations:read',
      render: ({ webhookId, partnerId, name, consecutiveFailures }) => ({
        title: `Webhook failing: ${name}`,
        message: `${consecutiveFailures} deliveries in a row could not be made.`,
        link: `/webhooks/${webhookId}`,
        metadata: { webhookId },
        dedupeKey: `webhook:${webhookId}`,
        partnerId,
      }),
    },
  },
});
