/** Errors of this module. */
import { defineError } from '#core';

export const JobLocked = defineError('JOB_LOCKED', 409, 'The job is running');
export const FilterTooBroad = defineError(
  'FILTER_TOO_BROAD',
  400,
  'The filter matches more than 1,000 jobs: send a dryRun first, then repeat with the confirm value from its response',
);
