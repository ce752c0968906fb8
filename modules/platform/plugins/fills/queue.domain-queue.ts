/** Work that waits for plugins, on the operators' pages. */
import { defineContribution, deliveryFigures } from '#core';
import { pluginQueue } from '../services/dispatch/queue.ts';

export default defineContribution('queue.domain-queue', {
  name: 'plugin-work',
  title: 'Events and schedules for plugins',
  link: '/api/v1/plugins/installations',
  count: (ctx) => deliveryFigures(ctx, pluginQueue),
});
