/** One switch of a tenant, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default (platform: TestPlatform, { partnerId, orgId }: Tenant): Promise<unknown> =>
  platform.sql(`insert into tenant_modules (partner_id, org_id, key, enabled) values ($1, $2, 'search', true)`, [
    partnerId,
    orgId,
  ]);
