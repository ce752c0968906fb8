/** Reading the audit trail; core writes and seals it. */
import { defineModule } from '#core';
import { FEED, FeedHead } from './services/feed-head.ts';

export default defineModule({
  name: 'audit',
  title: 'Audit trail',
  summary: 'Who did what and when, and the proof that nobody altered it',
  requires: [],
  core: true,
  permissions: ['audit:read', 'audit:export', 'settings:update'],
  audits: [
    'audit_logs.export',
    'audit_logs.export.download',
    'audit_logs.chain.export',
    'audit_logs.retention.update',
    'audit_logs.prune',
  ],
  start({ services, asPlatform }) {
    services.set(FEED, new FeedHead(asPlatform));
  },
});
