/** Events of a tenant, as a stream and as a list that readers can resume. */
import { defineModule, provide } from '#core';
import { EventFeed, FEED } from './services/event-feed.ts';

export default defineModule({
  name: 'events',
  title: 'Events',
  summary: 'Events of a tenant, as a stream and as a history of thirty days',
  requires: ['webhooks'],
  permissions: ['organizations:read'],
  audits: [],
  start(start) {
    return { provide: [provide(FEED, new EventFeed(start.asPlatform))] };
  },
});
