/** Halts rollouts that fail too often. Rings need no opening: the time since the promotion opens them. */
import Joi from 'joi';
import { defineJob } from '#core';
import { haltFailing } from '../services/rollout/rollouts.ts';

declare module '#core/contract' {
  interface Jobs {
    'agent-versions/evaluate-rings': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'agent-versions/evaluate-rings',
  summary: 'Halts rollouts that fail too often',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '*/5 * * * *' },
  maxAttempts: 1,
  async run(ctx) {
    await haltFailing(ctx);
  },
});
