/** Drops old days of metrics. */
import Joi from 'joi';
import { defineJob } from '#core';
import { dropOldMetrics } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-metrics/prune-metrics': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'device-metrics/prune-metrics',
  summary: 'Drops old days of metrics',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  run: dropOldMetrics,
});
