/** Removes provisioned devices that no machine has filled for thirty days. */
import Joi from 'joi';
import { defineJob } from '#core';
import { expireProvisions } from '../services/life/provisions.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/expire-provisions': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/expire-provisions',
  summary: 'Removes provisioned devices that no machine has filled for thirty days',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  run: expireProvisions,
});
