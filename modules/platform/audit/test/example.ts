/** Entries in a tenant's audit trail, a checkpoint over them and an export, and what the contract tests need to know of this module. */
import type { Example, ExampleContext } from '#test';
import { signAll } from './jobs.ts';

/** The newest checkpoint of the tenant's trail, and an entry that it covers. */
async function signed({ platform, tenant }: ExampleContext): Promise<{ checkpoint: string; entry: string }> {
  await signAll(platform);
  const [row] = await platform.sql<{ checkpoint: string; entry: string }>(
    `select c.id as checkpoint, l.id as entry from audit_checkpoints c join audit_logs l on l.owner = c.owner
     where c.owner = $1 order by c.size desc, l.seq limit 1`,
    [`org:${tenant.orgId}`],
  );
  return { checkpoint: row?.checkpoint ?? '', entry: row?.entry ?? '' };
}

const example: Example = {
  async make(platform, { orgAdmin: { token }, siteId }) {
    await platform.call('PATCH', `/orgs/sites/${siteId}`, { token, body: { timezone: 'Europe/Vienna' } });
    await signAll(platform);
    await platform.call('POST', '/audit-logs/exports', { token, body: {} });
  },
  calls: {
    async 'GET /audit-logs/proofs/inclusion'(context) {
      const path = `/audit-logs/proofs/inclusion?entryId=${(await signed(context)).entry}`;
      return { path, token: context.tenant.orgAdmin.token };
    },
    async 'GET /audit-logs/proofs/consistency'(context) {
      const { checkpoint } = await signed(context);
      const path = `/audit-logs/proofs/consistency?from=${checkpoint}&to=${checkpoint}`;
      return { path, token: context.tenant.orgAdmin.token };
    },
  },
  unrecorded: { 'GET /audit-logs/stream': { test: 'streams.test.ts', why: 'the stream does not end' } },
};
export default example;
