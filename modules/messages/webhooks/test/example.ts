/** A webhook of a tenant and a delivery that failed, and what the contract tests need to know of this module. */
import { type Example, uniqueName } from '#test';

const example: Example = {
  async make(platform, { orgAdmin, orgId, siteId }) {
    const { body } = await platform.call<{ data: { id: string } }>('POST', '/webhooks', {
      token: orgAdmin.token,
      // No name server is asked for an address, and nothing is sent while no worker runs.
      body: { name: 'Tickets', url: 'https://8.8.8.8/hook', events: ['webhook.disabled'] },
    });
    await platform.sql(
      `with made as (select gen_random_uuid() as id)
       insert into webhook_deliveries (id, webhook_id, org_id, site_id, event_id, event_type, message_id, payload, status)
       select id, $1, $2, $3, gen_random_uuid(), 'webhook.disabled', 'msg_' || id, '{"data":{}}', 'failed' from made`,
      [body.data.id, orgId, siteId],
    );
  },
  bodies: {
    'POST /webhooks': ({ tenant: { orgId } }) => ({
      orgId,
      name: uniqueName(),
      url: 'https://8.8.8.8/',
      events: ['*'],
    }),
    'PATCH /webhooks/{id}': () => ({ name: uniqueName() }),
    'POST /webhooks/{id}/test': () => ({ event: 'webhook.test' }),
    'POST /webhooks/{id}/replay': () => ({
      from: '2020-01-01T00:00:00Z',
      to: '2030-01-01T00:00:00Z',
      status: 'delivered',
    }),
  },
  before: {
    async 'POST /webhooks/{id}/retry/{deliveryId}'({ platform, tenant }) {
      const rows = await platform.sql<{ path: string }>(
        `select '/webhooks/' || webhook_id || '/retry/' || id as path from webhook_deliveries
         where org_id = $1 and status = 'failed'`,
        [tenant.orgId],
      );
      return rows.map(({ path }) => path);
    },
  },
};
export default example;
