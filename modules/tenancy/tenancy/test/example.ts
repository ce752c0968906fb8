/** One more organization and site of a tenant, and what the contract tests need to know of the operations of this module. */
import type { Example } from '#test';

const example: Example = {
  async make(platform, { orgId, partner: { token } }) {
    await platform.call('POST', '/orgs/organizations', { token, body: { name: 'Example', slug: 'example' } });
    await platform.call('POST', '/orgs/sites', { token, body: { orgId, name: 'Example' } });
  },
  turns: { 'DELETE /orgs/organizations/{id}': 3, 'DELETE /orgs/partners/{id}': 3 },
  changes: {
    '/orgs/organizations': {
      make: (sql, { partnerId }, id) =>
        sql(
          `insert into organizations (id, partner_id, name, slug) values ($1::uuid, $2, $1::uuid::text, $1::uuid::text)`,
          [id, partnerId],
        ),
      touch: (sql, id) => sql(`update organizations set status = 'suspended' where id = $1`, [id]),
      remove: (sql, id) => sql('update organizations set deleted_at = now() where id = $1', [id]),
    },
    '/orgs/sites': {
      make: (sql, { orgId }, id) =>
        sql('insert into sites (id, org_id, name) values ($1::uuid, $2, $1::uuid::text)', [id, orgId]),
      touch: (sql, id) => sql(`update sites set contact = '{"a": 1}' where id = $1`, [id]),
      remove: (sql, id) => sql('delete from sites where id = $1', [id]),
    },
  },
};
export default example;
