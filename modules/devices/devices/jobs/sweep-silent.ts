/** Marks silent devices offline, and ends updates and maintenance whose time is over. */
import Joi from 'joi';
import { defineJob } from '#core';
import { sweepSilent, sweepUpdating, sweepWatchdogs } from '../services/heartbeats/silences.ts';
import { sweepMaintenance } from '../services/life/maintenance-modes.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/sweep-silent': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/sweep-silent',
  summary: 'Marks silent devices offline, and ends updates and maintenance whose time is over',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { every: 30 },
  maxAttempts: 1,
  async run(ctx) {
    await sweepSilent(ctx);
    await sweepUpdating(ctx);
    await sweepWatchdogs(ctx);
    await sweepMaintenance(ctx);
  },
});
