/** Deletes names of software that is no longer installed on any device. */
import { defineJob } from '#core';
import { pruneSoftwareNames } from '../services/inventory/software-names.ts';

export default defineJob({
  summary: 'Deletes names of software that is no longer installed on any device',
  scope: 'platform',
  schedule: { cron: '41 2 * * *' },
  maxAttempts: 3,
  run: pruneSoftwareNames,
});
