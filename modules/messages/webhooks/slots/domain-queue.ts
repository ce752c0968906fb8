/** Webhook deliveries on the operators' pages of queues. */
import { defineFilling, deliveryFigures } from '#core';
import { webhookQueue } from '../services/sending/queue.ts';

export default defineFilling({
  slot: 'queue.domain-queue',
  value: {
    name: 'webhook-deliveries',
    title: 'Webhook deliveries',
    link: '/api/v1/webhooks',
    count: (ctx) => deliveryFigures(ctx, webhookQueue),
  },
});
