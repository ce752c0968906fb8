/** Entries in a tenant's trail, a checkpoint over them and an export, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';
import { signAll } from './jobs.ts';

export default async (platform: TestPlatform, { orgAdmin, siteId }: Tenant): Promise<void> => {
  const { token } = orgAdmin;
  await platform.call('PATCH', `/orgs/sites/${siteId}`, { token, body: { timezone: 'Europe/Vienna' } });
  await signAll(platform);
  await platform.call('POST', '/audit-logs/exports', { token, body: {} });
};
