/** What the contract tests need of this module: a job that waits, one that failed, and a worker that fell silent. */
import type { Tenant, TestPlatform } from '#test';

export default async function example(platform: TestPlatform, { orgId }: Tenant): Promise<void> {
  await platform.sql(
    `insert into worker_nodes (id, version, concurrency, heartbeat_at) values ('example:1:00000000', 'x', 1, now() - interval '1 hour')
     on conflict do nothing`,
  );
  await platform.sql(
    `insert into job_failures (job_id, task, attempt, started_at, finished_at, duration_ms, outcome, node_id, org_id)
     values (1, 'example/fail', 1, now(), now(), 1, 'failed', 'example', $1)`,
    [orgId],
  );
}
