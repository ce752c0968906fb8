/** Deletes provisioned devices whose machine has not enrolled within thirty days. */
import { defineJob } from '#core';
import { expireProvisions } from '../services/life/provisions.ts';

export default defineJob({
  summary: 'Deletes provisioned devices whose machine has not enrolled within thirty days',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  run: expireProvisions,
});
