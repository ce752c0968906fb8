/** Messages to alert channels, on the operators' pages. */
import { defineContribution, deliveryFigures } from '#core';
import { alertChannelQueue } from '../services/sending/queue.ts';

export default defineContribution('queue.domain-queue', {
  name: 'alert-channels',
  title: 'Messages to alert channels',
  link: '/api/v1/alerts/channels',
  count: (ctx) => deliveryFigures(ctx, alertChannelQueue),
});
