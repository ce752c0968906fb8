/** Notices and a browser of a tenant's people, and what the contract tests need to know of this module. */
import { randomUUID } from 'node:crypto';
import type { Example } from '#test';
import { browser } from './post-offices.ts';

const example: Example = {
  async make(platform, { orgAdmin, partner, orgId }) {
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
  },
  bodies: {
    'PATCH /notifications/read': () => ({ all: true }),
    'PUT /notifications/preferences': () => ({ preferences: [{ type: 'device', email: 'none' }] }),
    'POST /notifications/push-subscriptions': () => browser(`https://8.8.8.8/${randomUUID()}`).body,
  },
  before: {
    async 'DELETE /notifications/push-subscriptions/{id}'({ platform }) {
      const rows = await platform.sql<{ id: string }>('select id from push_subscriptions');
      return rows.map(({ id }) => `/notifications/push-subscriptions/${id}`);
    },
  },
  peopleOnly: [[/ \/notifications(\/|$)/, 'the notices, preferences and browsers of the person who calls']],
  // The installation's own key, made when it is first asked for.
  writtenByAnyone: ['push_keys'],
};
export default example;
