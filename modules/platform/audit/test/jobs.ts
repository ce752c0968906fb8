/** Puts the module's jobs into the queue, as schedules and other processes do. */
import type { TestPlatform } from '#test';

type AuditJob = 'audit/write-checkpoints' | 'audit/plan-retention' | 'audit/prune-organization';

/** Adds one job; `runJobs()` runs it. */
export async function addJob(platform: TestPlatform, name: AuditJob, payload: object = {}): Promise<void> {
  const { registry } = platform.platform.tasks;
  const row = registry.jobRow(name, payload, { orgId: null, requestId: 'test' }, {});
  await platform.sql('select flush_effects($1::jsonb)', [JSON.stringify({ jobs: [row] })]);
}

/** Signs everything sealed so far. */
export async function signAll(platform: TestPlatform): Promise<void> {
  await platform.settle();
  await addJob(platform, 'audit/write-checkpoints');
  await platform.runJobs();
}

/** What the queue still holds of jobs that failed. */
export const failures = (platform: TestPlatform) =>
  platform.sql<{ task: string; error: string }>(
    `select task_identifier as task, last_error as error from graphile_worker.jobs where last_error is not null order by id`,
  );
