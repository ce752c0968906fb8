/** A channel of a tenant with a message that was sent, for the tests that hold for every module. */
import { randomUUID } from 'node:crypto';
import type { Tenant, TestPlatform } from '#test';

export default async (platform: TestPlatform, { orgAdmin, orgId }: Tenant): Promise<void> => {
  const { body } = await platform.call<{ data: { id: string } }>('POST', '/alerts/channels', {
    token: orgAdmin.token,
    // Without a mail server mail is written to files: nothing leaves this machine.
    body: { name: 'Ops', type: 'email', config: { to: ['ops@example.com'] } },
  });
  await platform.sql(
    `insert into alert_notifications (org_id, channel_id, alert_id, kind, severity, message, status)
     values ($1, $2, $3, 'trigger', 'high', '{}', 'sent')`,
    [orgId, body.data.id, randomUUID()],
  );
};
