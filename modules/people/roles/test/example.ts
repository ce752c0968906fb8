/** One role of each level of a tenant, and what the contract tests need to know of the operations of this module. */
import type { Example } from '#test';

const example: Example = {
  async make(platform, { orgId, partnerId }) {
    await platform.sql(`insert into roles (org_id, scope, name) values ($1, 'organization', 'Example')`, [orgId]);
    await platform.sql(`insert into roles (partner_id, scope, name) values ($1, 'partner', 'Example')`, [partnerId]);
  },
  peopleOnly: [[/^(POST|PATCH|DELETE) \/roles(\/|$)/, 'managing roles requires a second factor, which a key lacks']],
};
export default example;
