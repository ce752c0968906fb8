/** One provider of a tenant, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default (platform: TestPlatform, { orgAdmin }: Tenant): Promise<unknown> =>
  platform.call('POST', '/sso/providers', {
    token: orgAdmin.token,
    body: { name: 'Head office', issuer: 'https://login.bakery.example', clientId: 'quartermaster', clientSecret: 'x' },
  });
