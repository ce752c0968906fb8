/** The operators' view of the job queue: what waits, runs and fails, why, and actions on it. */
import { defineModule } from '#core';
import type { DomainQueue } from './models/domain-queue.ts';
import type { HealthChange } from './models/health.ts';
import { domainQueueShape, jobShape, runShape, taskStateShape, workerShape } from './models/shapes.ts';
import { startClocks } from './services/watching/clocks.ts';

declare module '#core/contract' {
  interface Slots {
    'queue.domain-queue': DomainQueue;
  }
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
  permissions: ['settings:view', 'settings:update'],
  audits: [
    'job.retry',
    'job.cancel',
    'job.bulk',
    'job.cron.run',
    'job.worker.drain',
    'job.worker.unlock',
    'job.task.pause',
    'job.task.resume',
  ],
  events: ['queue.health.changed'],
  slots: ['queue.domain-queue'],
  start: (start) => (start.clocks ? { stop: startClocks(start) } : undefined),
  schemas: {
    DomainQueue: domainQueueShape,
    Job: jobShape,
    JobRun: runShape,
    JobTaskState: taskStateShape,
    JobWorker: workerShape,
  },
});
