/** Webhook deliveries on the operators' pages of queues. */
import { defineContribution, deliveryFigures } from '#core';
import { webhookQueue } from '../services/sending/queue.ts';

export default defineContribution('queue.domain-queue', {
  name: 'webhook-deliveries',
  title: 'Webhook deliveries',
  link: '/api/v1/webhooks',
  count: (ctx) => deliveryFigures(ctx, webhookQueue),
});
