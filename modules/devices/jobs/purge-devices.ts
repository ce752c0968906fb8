/** Removes devices that were decommissioned over thirty days ago. */
import Joi from 'joi';
import { defineJob } from '#core';
import { purgeDevices } from '../services/lifecycles.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/purge-devices': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/purge-devices',
  summary: 'Removes devices that were decommissioned over thirty days ago',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '41 2 * * *' },
  maxAttempts: 10,
  async run(ctx) {
    // One after the other in one job would be one long transaction; the next run takes what is left.
    await purgeDevices(ctx, 500);
  },
});
