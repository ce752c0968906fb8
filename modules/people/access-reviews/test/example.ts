/** One access review of a tenant, and what the contract tests need to know of the operations of this module. */
import type { Example } from '#test';

const example: Example = {
  make: (platform, { orgAdmin }) =>
    platform.call('POST', '/access-reviews', { token: orgAdmin.token, body: { name: 'Example' } }),
  bodies: { 'PATCH /access-reviews/{id}/items/{itemId}': () => ({ decision: 'approved' }) },
  before: {
    async 'POST /access-reviews/{id}/complete'({ platform }) {
      await platform.sql(`update access_review_items set decision = 'approved'`);
    },
  },
  turns: { 'POST /access-reviews/{id}/complete': 0.5 },
  // Items name no organization.
  ids: async ({ platform }) =>
    (await platform.sql<{ id: string }>('select id from access_review_items limit 2')).map(({ id }) => ({
      id,
      table: 'access_review_items',
    })),
};
export default example;
