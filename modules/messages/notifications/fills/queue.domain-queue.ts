/** Mails and push messages on the operators' pages of queues. */
import { defineContribution, deliveryFigures } from '#core';
import { notificationQueue } from '../services/delivery/queue.ts';

export default defineContribution('queue.domain-queue', {
  name: 'notifications',
  title: 'Mails and push messages to users',
  link: '/api/v1/notifications',
  count: (ctx) => deliveryFigures(ctx, notificationQueue),
});
