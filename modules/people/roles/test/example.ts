/** One of each object of roles, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default async (platform: TestPlatform, { orgId, partnerId }: Tenant): Promise<void> => {
  await platform.sql(`insert into roles (org_id, scope, name) values ($1, 'organization', 'Example')`, [orgId]);
  await platform.sql(`insert into roles (partner_id, scope, name) values ($1, 'partner', 'Example')`, [partnerId]);
};
