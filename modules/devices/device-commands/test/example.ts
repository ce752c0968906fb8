/** A command that waits for the first device of a tenant, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default async (platform: TestPlatform, tenant: Tenant): Promise<unknown> => {
  const [device] = await platform.sql<{ id: string }>('select id from devices where org_id = $1 order by id limit 1', [
    tenant.orgId,
  ]);
  return platform.call('POST', `/devices/${device?.id}/commands`, {
    token: tenant.orgAdmin.token,
    body: { type: 'lock' },
  });
};
