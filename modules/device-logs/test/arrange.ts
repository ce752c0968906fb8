/** Enrolled agents of tenants of their own, and jobs run now, for the tests of this module. */
import { enrollAgent, enrollmentKey, type FakeAgent, type Tenant, type TestPlatform, tenant } from '#test';

export async function newAgent(platform: TestPlatform): Promise<Tenant & { agent: FakeAgent }> {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
}

/** Runs one of this module's jobs through the queue, as its schedule would add it. */
export async function runJob(platform: TestPlatform, name: string): Promise<void> {
  await platform.sql(
    `select graphile_worker.add_job($1, json_build_object('orgId', null, 'requestId', 'test', 'data', '{}'::json))`,
    [`device-logs/${name}`],
  );
  await platform.runJobs();
}
