/** Enrolled agents of tenants of their own, and jobs run now, for the tests of this module; and events. */
import {
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  type FakeAgent,
  type PlatformClient,
  type Tenant,
  tenant,
} from '#test';

export async function newAgent(platform: PlatformClient): Promise<Tenant & { agent: FakeAgent }> {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
}

/** Runs one of this module's jobs through the queue, as its schedule would add it. */
export async function runJob(platform: PlatformClient, name: string): Promise<void> {
  await platform.sql(
    `select graphile_worker.add_job($1, json_build_object('orgId', null, 'requestId', 'test', 'data', '{}'::json))`,
    [`device-logs/${name}`],
  );
  await platform.runJobs();
}

export const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
/** What a Windows machine writes of a service, ten minutes ago. */
export const event = (more: object = {}) => ({
  timestamp: minutesAgo(10),
  level: 'error',
  category: 'system',
  source: 'Service Control Manager',
  eventId: '7036',
  message: 'The service stopped',
  ...more,
});

export const submitEvents = (agent: FakeAgent, events: object[]) =>
  agent.call<{ success: true; count: number } & ErrorBody>('PUT', 'eventlogs', { events });
