/** One of each object of identity, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default async (platform: TestPlatform, { orgId, siteId, orgAdmin }: Tenant): Promise<void> => {
  const { token } = orgAdmin;
  await platform.call('POST', '/api-keys', { token, body: { orgId, name: 'Example' } });
  await platform.call('POST', '/enrollment-keys', { token, body: { orgId, siteId, name: 'Example' } });
};
