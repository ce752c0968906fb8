/** Removes provisioned devices that no machine has filled for thirty days. */
import { defineJob } from '#core';
import { expireProvisions } from '../services/life/provisions.ts';

export default defineJob({
  summary: 'Removes provisioned devices that no machine has filled for thirty days',
  scope: 'platform',
  schedule: { cron: '23 * * * *' },
  maxAttempts: 3,
  run: expireProvisions,
});
