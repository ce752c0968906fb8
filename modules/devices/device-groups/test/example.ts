/** One of each object of this module, for the contract tests. */
import type { Tenant, TestPlatform } from '#test';
import { enroll } from '../../devices/test/arrange.ts';

export default async function example(platform: TestPlatform, { orgAdmin, orgId, siteId }: Tenant): Promise<void> {
  const { deviceId } = await enroll(platform, { orgId, siteId });
  const { token } = orgAdmin;
  const filter = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };
  await platform.call('POST', '/groups', { token, body: { name: 'All Linux', type: 'dynamic', filter } });
  await platform.call('POST', '/groups', { token, body: { name: 'Chosen', type: 'static', deviceIds: [deviceId] } });
}
