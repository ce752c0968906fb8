/** One saved filter of a tenant, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default (platform: TestPlatform, tenant: Tenant): Promise<unknown> =>
  platform.call('POST', '/filters', {
    token: tenant.orgAdmin.token,
    body: {
      name: 'Linux',
      conditions: { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] },
    },
  });
