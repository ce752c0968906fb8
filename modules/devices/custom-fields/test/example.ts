/** One field of a tenant, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default (platform: TestPlatform, { orgAdmin }: Tenant): Promise<unknown> =>
  platform.call('POST', '/custom-fields', {
    token: orgAdmin.token,
    body: { name: 'Rack', fieldKey: 'rack', type: 'text' },
  });
