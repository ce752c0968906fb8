/** Removes invitations that expired long ago, a bounded number at a time. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepInvitations } from '../services/invitations.ts';

declare module '#core/contract' {
  interface Jobs {
    'users/sweep-invitations': Record<string, never>;
  }
}

export default defineJob({
  summary: 'Removes invitations that expired more than 90 days ago',
  scope: 'platform',
  payload: Joi.object<Record<string, never>>({}),
  schedule: { cron: '41 * * * *' },
  maxAttempts: 1,
  run: (ctx) => sweepInvitations(ctx),
});
