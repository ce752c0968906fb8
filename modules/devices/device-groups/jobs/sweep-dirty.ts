/** Finds queues of changed devices that no job has processed. */
import { defineJob } from '#core';
import { sweep } from '../services/evaluating/drains.ts';

export default defineJob({
  summary: 'Finds changed devices that no job has evaluated',
  scope: 'platform',
  schedule: { every: 10 },
  maxAttempts: 1,
  run: (ctx) => sweep(ctx),
});
