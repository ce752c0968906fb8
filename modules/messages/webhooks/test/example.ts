/** A webhook of a tenant and a delivery that failed, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';

export default async (platform: TestPlatform, { orgAdmin, orgId, siteId }: Tenant): Promise<void> => {
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
};
