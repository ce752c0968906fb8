/** A channel of a tenant with a message that was sent, and what the contract tests need to know of this module. */
import { randomUUID } from 'node:crypto';
import { type Example, uniqueName } from '#test';

/** Without a mail server mail is written to files: nothing leaves this machine. */
const config = { to: ['ops@example.com'] };

const example: Example = {
  async make(platform, { orgAdmin, orgId }) {
    const { body } = await platform.call<{ data: { id: string } }>('POST', '/alerts/channels', {
      token: orgAdmin.token,
      body: { name: 'Ops', type: 'email', config },
    });
    await platform.sql(
      `insert into alert_notifications (org_id, channel_id, alert_id, kind, severity, message, status)
       values ($1, $2, $3, 'trigger', 'high', '{}', 'sent')`,
      [orgId, body.data.id, randomUUID()],
    );
  },
  bodies: {
    'POST /alerts/channels': ({ tenant: { orgId } }) => ({ orgId, name: uniqueName(), type: 'email', config }),
    'PATCH /alerts/channels/{id}': () => ({ name: uniqueName() }),
  },
};
export default example;
