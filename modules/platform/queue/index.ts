/** The operators' view of the job queue: what waits, runs and fails, why, and actions on it. */
import { defineModule } from '#core';
import type { HealthChange } from './models/health.ts';
import { startClocks } from './services/watching/clocks.ts';

declare module '#core/contract' {
  interface Events {
    'queue.health.changed': HealthChange;
  }
}

export default defineModule({
  name: 'queue',
  title: 'Jobs',
  summary: 'The state of the job queue, explanations, and actions on jobs, tasks and workers',
  requires: [],
  core: true,
  events: ['queue.health.changed'],
  start: (start) => (start.clocks ? { stop: startClocks(start) } : undefined),
});
