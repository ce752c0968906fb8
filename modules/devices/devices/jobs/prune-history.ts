/** Deletes old changes and addresses of devices. */
import Joi from 'joi';
import { defineJob } from '#core';
import { pruneHistory } from '../services/retention.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/prune-history': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/prune-history',
  summary: 'Deletes old changes and addresses of devices',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '17 2 * * *' },
  maxAttempts: 5,
  run: pruneHistory,
});
