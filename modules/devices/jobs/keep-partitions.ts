/** Makes the coming days of metrics and drops the old ones, and prunes other history. */
import Joi from 'joi';
import { defineJob } from '#core';
import { keepPartitions, pruneHistory } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/keep-partitions': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/keep-partitions',
  summary: 'Makes the coming days of metrics and drops the old ones, and prunes other history',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  async run(ctx) {
    await keepPartitions(ctx);
    await pruneHistory(ctx);
  },
});
