/** One invitation into a tenant, for the tests that hold for every module. */
import { ROLES, type Tenant, type TestPlatform } from '#test';

export default (platform: TestPlatform, { orgAdmin }: Tenant): Promise<unknown> =>
  platform.call('POST', '/users/invite', {
    token: orgAdmin.token,
    body: { email: 'example@example.com', name: 'Example', roleId: ROLES.viewer },
  });
