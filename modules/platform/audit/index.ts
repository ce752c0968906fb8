/** The audit trail: reading, proving, exporting and keeping it. Core writes and seals it. */
import { defineModule, provide } from '#core';
import { FEED, FeedHead } from './services/live/feed-head.ts';

export default defineModule({
  name: 'audit',
  title: 'Audit trail',
  summary: 'Who did what and when, with proof that entries were not altered',
  requires: [],
  core: true,
  auditOnly: ['audit_logs.prune'],
  start({ asPlatform }) {
    return { provide: [provide(FEED, new FeedHead(asPlatform))] };
  },
});
