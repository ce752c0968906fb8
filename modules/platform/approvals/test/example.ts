/** A bulk command of a tenant that waits for approval, and examples of deciding about one. */
import type { Example, ExampleContext, Tenant, TestPlatform } from '#test';
import { enroll } from '../../../devices/devices/test/arrange.ts';

const HOSTS = ['WS-0151', 'WS-0152'];

/** Asks for a restart of two devices; returns the id of the request. */
async function waiting(platform: TestPlatform, tenant: Tenant, token: string): Promise<string> {
  const [known] = await platform.sql<{ ids: string[] }>(
    `select coalesce(array_agg(id), '{}') as ids from devices where org_id = $1 and hostname = any($2) and lifecycle = 'active'`,
    [tenant.orgId, HOSTS],
  );
  const deviceIds = known?.ids.slice(0, HOSTS.length) ?? [];
  for (const hostname of HOSTS.slice(deviceIds.length))
    deviceIds.push((await enroll(platform, tenant, { hostname })).deviceId);
  const set = (limit: number | null) =>
    platform.sql(`update organizations set settings = jsonb_set(settings, '{device-commands}', $2) where id = $1`, [
      tenant.orgId,
      { approvalAboveDevices: limit },
    ]);
  await set(1);
  const { status, body } = await platform.call<{ approvalId: string }>('POST', '/devices/bulk/commands', {
    token,
    body: { deviceIds, type: 'reboot', payload: { delayMinutes: 5 }, reason: 'Kernel update' },
  });
  await set(null);
  if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.approvalId;
}

const decide =
  (how: string, body?: object) =>
  async ({ platform, tenant }: ExampleContext) => ({
    path: `/approvals/${await waiting(platform, tenant, tenant.partner.token)}/${how}`,
    token: tenant.orgAdmin.token,
    ...(body ? { body } : {}),
  });

const example: Example = {
  make: (platform, tenant) => waiting(platform, tenant, tenant.partner.token),
  calls: {
    'POST /approvals/{id}/approve': decide('approve', { reason: 'The night is free' }),
    'POST /approvals/{id}/reject': decide('reject', { reason: 'Not before the end of the month' }),
    'POST /approvals/{id}/cancel': async ({ platform, tenant }) => ({
      path: `/approvals/${await waiting(platform, tenant, tenant.partner.token)}/cancel`,
      token: tenant.partner.token,
    }),
  },
  peopleOnly: [
    [
      /^POST \/approvals\/\{id\}\/(approve|reject|cancel)$/,
      'a decision is that of a person: a key does not say who holds it, and could be the asker',
    ],
  ],
};
export default example;
