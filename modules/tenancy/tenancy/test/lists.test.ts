/** Pages of partners, organizations and sites. */
import test from 'ava';
import { sharedPlatform, systemUser, tenant } from '#test';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

test('page and limit outside their bounds are clamped, on every list', async (t) => {
  const { partner, partnerId, orgId } = await tenant(platform);
  const { token: admin } = await systemUser(platform);
  await platform.sql(
    `insert into organizations (partner_id, name, slug) select $1, 'Org ' || n, 'org-' || n from generate_series(1, 119) n`,
    [partnerId],
  );
  await platform.sql(`insert into sites (org_id, name) select $1, 'Site ' || n from generate_series(1, 119) n`, [
    orgId,
  ]);
  await platform.sql(
    `insert into partners (name, slug) select 'Partner ' || n, 'partner-' || n from generate_series(1, 120) n`,
  );
  const lists = { '/orgs/organizations': partner.token, '/orgs/sites': partner.token, '/orgs/partners': admin };
  for (const [path, token] of Object.entries(lists)) {
    const list = (query: string) =>
      platform.call<{ data: unknown[]; pagination: { page: number; limit: number; total: number } }>(
        'GET',
        path + query,
        { token },
      );
    const usual = await list('');
    const { total } = usual.body.pagination;
    t.deepEqual(usual.body.pagination, { page: 1, limit: 50, total });
    t.true(total >= 120);
    t.is(usual.body.data.length, 50);
    for (const [query, expected] of [
      ['?page=0', { page: 1, limit: 50, total }],
      ['?page=-3&limit=0', { page: 1, limit: 1, total }],
      ['?limit=-5', { page: 1, limit: 1, total }],
      ['?page=2&limit=1000', { page: 2, limit: 100, total }],
    ] as const) {
      t.deepEqual((await list(query)).body.pagination, expected, path + query);
    }
    t.is((await list('?page=2&limit=100')).body.data.length, Math.min(100, total - 100));
    t.is((await list('?page=many')).status, 400);
    t.deepEqual((await list('?page=9999')).body.data, []);
  }
});
