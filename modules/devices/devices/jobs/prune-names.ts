/** Forgets names of software that no device has any more. */
import { defineJob } from '#core';
import { pruneSoftwareNames } from '../services/inventory/software-names.ts';

export default defineJob({
  summary: 'Forgets names of software that no device has any more',
  scope: 'platform',
  schedule: { cron: '41 2 * * *' },
  maxAttempts: 3,
  run: pruneSoftwareNames,
});
