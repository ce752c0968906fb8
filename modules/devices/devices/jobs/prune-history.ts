/** Drops old days of metrics and prunes other history. */
import Joi from 'joi';
import { defineJob } from '#core';
import { dropOldMetrics, pruneHistory } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/prune-history': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/prune-history',
  summary: 'Drops old days of metrics and prunes other history',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  async run(ctx) {
    await dropOldMetrics(ctx);
    await pruneHistory(ctx);
  },
});
