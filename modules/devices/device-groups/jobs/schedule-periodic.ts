/** Lays out the evaluations of groups whose filter asks for times or for what heartbeats change. */
import Joi from 'joi';
import { defineJob } from '#core';
import { schedulePeriodic } from '../services/evaluating/schedules.ts';

declare module '#core/contract' {
  interface Jobs {
    'device-groups/schedule-periodic': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'device-groups/schedule-periodic',
  summary: 'Lays out the evaluations that no change of a device announces',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '*/5 * * * *' },
  maxAttempts: 1,
  run: (ctx) => schedulePeriodic(ctx),
});
