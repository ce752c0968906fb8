/** Notices and a browser of a tenant's people, for the tests that hold for every module. */
import type { Tenant, TestPlatform } from '#test';
import { browser } from './post-offices.ts';

export default async (platform: TestPlatform, { orgAdmin, partner, orgId }: Tenant): Promise<void> => {
  await platform.sql(
    `insert into user_notifications (user_id, event_id, org_id, type, title, message)
     select u, gen_random_uuid(), $2, 'system', 'Example', '' from unnest($1::uuid[]) u, generate_series(1, 3)`,
    [[orgAdmin.id, partner.id], orgId],
  );
  await platform.call('POST', '/notifications/push-subscriptions', {
    token: orgAdmin.token,
    // No name server is asked for an address.
    body: browser('https://8.8.8.8/push').body,
  });
};
