/** Begins the removal of devices that were decommissioned over thirty days ago. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepPurges } from '../services/life/purges.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/purge-devices': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/purge-devices',
  summary: 'Begins the removal of devices that were decommissioned over thirty days ago',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '41 2 * * *' },
  maxAttempts: 10,
  run: sweepPurges,
});
