/** Deletes invitations that expired more than 90 days ago, in batches. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepInvitations } from '../services/invitations.ts';

declare module '#core/contract' {
  interface Jobs {
    'users/sweep-invitations': Record<string, never>;
  }
}

export default defineJob({
  name: 'users/sweep-invitations',
  summary: 'Deletes invitations that expired more than 90 days ago',
  scope: 'platform',
  payload: Joi.object<Record<string, never>>({}),
  schedule: { cron: '41 * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepInvitations(ctx),
});
