/** Deletes invitations that expired more than 90 days ago, in batches. */
import { defineJob } from '#core';
import { sweepInvitations } from '../services/invitations.ts';

export default defineJob({
  summary: 'Deletes invitations that expired more than 90 days ago',
  scope: 'platform',
  schedule: { cron: '41 * * * *' },
  maxAttempts: 3,
  run: (ctx) => sweepInvitations(ctx),
});
