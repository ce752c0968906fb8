/** The operators' view of the job queue: what waits, runs and fails, why, and actions on it. */
import { defineModule } from '#core';
import { startClocks } from './services/watching/clocks.ts';

export default defineModule({
  name: 'queue',
  title: 'Jobs',
  summary: 'The state of the job queue, explanations, and actions on jobs, tasks and workers',
  requires: [],
  core: true,
  start: (start) => (start.clocks ? { stop: startClocks(start) } : undefined),
});
