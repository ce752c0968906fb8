/** Switching a module for one organization, as its partner does it. */
import type { TestPlatform } from './platform-types.ts';
import type { Person } from './tenants.ts';
import { within } from './until.ts';

/** Returns when this process knows of it. */
export async function switchModule(
  { call, platform }: TestPlatform,
  { partner, orgId }: { partner: Pick<Person, 'token'>; orgId: string },
  key: string,
  enabled: boolean,
): Promise<void> {
  const { status, body } = await call('PATCH', `/modules/organizations/${orgId}/${key}`, {
    token: partner.token,
    body: enabled ? { enabled } : { enabled, cascade: true },
  });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  const { modules } = platform.tasks.work.services;
  if (await within(5000, () => (modules.off(key, { orgId }) === null) === enabled)) return;
  throw new Error(`after five seconds ${key} was not switched`);
}
