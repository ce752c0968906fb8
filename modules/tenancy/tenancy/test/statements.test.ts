/** How many statements each endpoint costs, begin and commit included, and that the number of rows does not count. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type pg from 'pg';
import { startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

/** Counts what runs on the connections of tenant work; nothing else uses them. */
let statements: string[] = [];
const seen = new WeakSet<pg.PoolClient>();
platform.platform.tasks.work.database.app.on('acquire', (client) => {
  if (seen.has(client)) return;
  seen.add(client);
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    const [what] = args;
    statements.push(typeof what === 'string' ? what : ((what as { text?: string }).text ?? ''));
    return query(...args);
  }) as typeof client.query;
});

/** Begin (with the announcement of the tenant) and commit (with the audit entry) are one statement each. */
const KNOWN: Record<string, number> = {
  'GET /orgs/': 3,
  'GET /orgs/organizations': 4,
  'GET /orgs/organizations?cursor=': 3,
  'GET /orgs/organizations/:org': 3,
  'POST /orgs/organizations': 5,
  'PATCH /orgs/organizations/order': 5,
  'PATCH /orgs/organizations/:org': 4,
  'DELETE /orgs/organizations/:new': 3,
  'GET /orgs/partners/me': 3,
  'PATCH /orgs/partners/me': 4,
  'GET /orgs/sites': 4,
  'GET /orgs/sites?cursor=': 3,
  'GET /orgs/sites/:site': 3,
  'POST /orgs/sites': 4,
  'PATCH /orgs/sites/:site': 4,
  'DELETE /orgs/sites/:made': 6,
};

test('each endpoint takes the statements that are known, with one row and with hundreds', async (t) => {
  const { partner, partnerId, orgId, siteId } = await tenant(platform);
  const made: Record<string, string> = { ':org': orgId, ':site': siteId };
  const cost = async (call: string): Promise<number> => {
    const [method = '', path = ''] = call.split(' ');
    const filled = path.replace(/:\w+/, (name) => made[name] ?? name);
    const bodies: Record<string, object> = {
      'POST /orgs/organizations': { name: 'x', slug: `x-${randomUUID().slice(0, 8)}` },
      'PATCH /orgs/organizations/order': { organizationOrder: [orgId] },
      'POST /orgs/sites': { orgId, name: 'x' },
    };
    const body = bodies[call] ?? { name: 'x' };
    const writes = method === 'POST' || method === 'PATCH';
    statements = [];
    const answer = await platform.call<{ id: string }>(method, filled, {
      token: partner.token,
      ...(writes ? { body } : {}),
    });
    t.true(answer.status < 300, `${call}: ${answer.status}`);
    if (call === 'POST /orgs/organizations') made[':new'] = answer.body.id;
    if (call === 'POST /orgs/sites') made[':made'] = answer.body.id;
    return statements.length;
  };
  const costs = async () => {
    const got: Record<string, number> = {};
    for (const call of Object.keys(KNOWN).sort(
      (a, b) => Number(a.startsWith('DELETE')) - Number(b.startsWith('DELETE')),
    ))
      got[call] = await cost(call);
    return got;
  };
  // The first round reads the columns of the tables, once a process.
  await costs();
  t.deepEqual(await costs(), KNOWN);
  await platform.sql(
    `insert into organizations (partner_id, name, slug) select $1, 'Org ' || n, 'org-' || n from generate_series(1, 300) n`,
    [partnerId],
  );
  await platform.sql(`insert into sites (org_id, name) select $1, 'Site ' || n from generate_series(1, 300) n`, [
    orgId,
  ]);
  t.deepEqual(await costs(), KNOWN);
});
