/** Work that waits for plugins on the operators' pages of queues. */
import { defineFilling, deliveryFigures } from '#core';
import { pluginQueue } from '../services/dispatch/queue.ts';

export default defineFilling({
  slot: 'queue.domain-queue',
  value: {
    name: 'plugin-work',
    title: 'Events and schedules for plugins',
    link: '/api/v1/plugins/installations',
    count: (ctx) => deliveryFigures(ctx, pluginQueue),
  },
});
