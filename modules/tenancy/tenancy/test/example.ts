/** One more organization and site of a tenant, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default async (platform: TestPlatform, { orgId, partner: { token } }: Tenant): Promise<void> => {
  await platform.call('POST', '/orgs/organizations', { token, body: { name: 'Example', slug: 'example' } });
  await platform.call('POST', '/orgs/sites', { token, body: { orgId, name: 'Example' } });
};
