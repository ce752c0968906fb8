/** One access review of a tenant, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default (platform: TestPlatform, { orgAdmin }: Tenant): Promise<unknown> =>
  platform.call('POST', '/access-reviews', { token: orgAdmin.token, body: { name: 'Example' } });
