/** Messages to alert channels on the operators' pages of queues. */
import { defineFilling, deliveryFigures } from '#core';
import { alertChannelQueue } from '../services/sending/queue.ts';

export default defineFilling({
  slot: 'queue.domain-queue',
  value: {
    name: 'alert-channels',
    title: 'Messages to alert channels',
    link: '/api/v1/alerts/channels',
    count: (ctx) => deliveryFigures(ctx, alertChannelQueue),
  },
});
