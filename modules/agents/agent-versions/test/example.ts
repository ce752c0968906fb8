/** An update that a device of the tenant failed, and a rollout halted for it, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default async (platform: TestPlatform, { orgId, siteId }: Tenant): Promise<unknown> => {
  const [device] = await platform.sql<{ id: string }>(
    `insert into devices (org_id, site_id, hostname, os_type, architecture, lifecycle, agent_version)
     values ($1, $2, 'outdated', 'linux', 'x64', 'active', '1.0.0') returning id`,
    [orgId, siteId],
  );
  await platform.sql('insert into device_state (device_id, org_id) values ($1, $2)', [device?.id, orgId]);
  await platform.sql(
    `insert into agent_update_attempts (org_id, device_id, component, from_version, to_version, attempt, state, reason,
       finished_at) values ($1, $2, 'agent', '1.0.0', '9.9.9', 1, 'failed', 'timeout', now())`,
    [orgId, device?.id],
  );
  return platform.sql(
    `insert into agent_rollout_halts (org_id, component, version, attempts, failures)
     values ($1, 'agent', '9.9.9', 20, 20)`,
    [orgId],
  );
};
