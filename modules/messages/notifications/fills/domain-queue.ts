/** Mails and push messages on the operators' pages of queues. */
import { defineFilling, deliveryFigures } from '#core';
import { notificationQueue } from '../services/delivery/queue.ts';

export default defineFilling({
  slot: 'queue.domain-queue',
  value: {
    name: 'notifications',
    title: 'Mails and push messages to users',
    link: '/api/v1/notifications',
    count: (ctx) => deliveryFigures(ctx, notificationQueue),
  },
});
