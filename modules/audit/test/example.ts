/** One entry in a tenant's trail, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default (platform: TestPlatform, { orgAdmin, siteId }: Tenant): Promise<unknown> =>
  platform.call('PATCH', `/orgs/sites/${siteId}`, { token: orgAdmin.token, body: { timezone: 'Europe/Vienna' } });
