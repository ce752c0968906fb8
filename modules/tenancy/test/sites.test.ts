/** Sites through the API. */
import test from 'ava';
import { type Called, type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';

interface SitePage {
  data: { name: string }[];
  pagination: { cursor: string | null };
}

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

test('a partner creates, reads, changes, lists and removes a site, and each step is audited', async (t) => {
  const { partner, orgId } = await tenant(platform);
  const { token } = partner;
  const made = await platform.call<{ id: string; timezone: string }>('POST', '/orgs/sites', {
    token,
    body: { orgId, name: ' Harbour ' },
  });
  t.is(made.status, 201);
  t.like(made.body, { orgId, name: 'Harbour', timezone: 'UTC', address: null, settings: {} });
  const { id } = made.body;
  const changed = await platform.call('PATCH', `/orgs/sites/${id}`, {
    token,
    body: { timezone: 'Europe/Vienna', contact: { phone: '1' } },
  });
  t.like(changed.body, { timezone: 'Europe/Vienna', contact: { phone: '1' } });
  const list = await platform.call('GET', `/orgs/sites?orgId=${orgId}&limit=500`, { token });
  t.like(list.body, { data: [{ name: 'Harbour' }, { name: 'Main' }], pagination: { page: 1, limit: 100, total: 2 } });
  t.deepEqual((await platform.call('DELETE', `/orgs/sites/${id}`, { token })).body, { success: true });
  t.is((await platform.call('GET', `/orgs/sites/${id}`, { token })).status, 404);
  const audits = await platform.audits({ orgId });
  t.deepEqual(
    audits.map((row) => [row.action, row.resource_id]),
    [
      ['site.create', id],
      ['site.update', id],
      ['site.delete', id],
    ],
  );
  t.deepEqual(audits[1]?.details, { changedFields: ['timezone', 'contact'] });
});

test('the cursor form walks every site once in the order of the names', async (t) => {
  const { partner, orgId } = await tenant(platform);
  await platform.sql(
    `insert into sites (org_id, name) select $1, 'Site ' || chr(65 + n) from generate_series(0, 6) n`,
    [orgId],
  );
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body }: Called<SitePage> = await platform.call(
      'GET',
      `/orgs/sites?orgId=${orgId}&limit=3&cursor=${cursor}`,
      {
        token: partner.token,
      },
    );
    seen.push(...body.data.map((site) => site.name));
    cursor = body.pagination.cursor;
  }
  t.deepEqual(seen, ['Main', 'Site A', 'Site B', 'Site C', 'Site D', 'Site E', 'Site F', 'Site G']);
  const forged = await platform.call<ErrorBody>('GET', '/orgs/sites?cursor=abc', { token: partner.token });
  t.is(forged.body.error.code, 'INVALID_CURSOR');
});

test('another partner finds no site, and naming a foreign organization is denied', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const { token } = theirs.partner;
  t.is((await platform.call('GET', `/orgs/sites/${mine.siteId}`, { token })).status, 404);
  t.is((await platform.call('DELETE', `/orgs/sites/${mine.siteId}`, { token })).status, 404);
  const named = await platform.call<ErrorBody>('POST', '/orgs/sites', {
    token,
    body: { orgId: mine.orgId, name: 'x' },
  });
  t.is(named.status, 403);
  t.is(named.body.error.message, 'Access to this organization denied');
});

test('a viewer may look but not write, and the refused write leaves a denied entry', async (t) => {
  const { viewer, orgId, siteId } = await tenant(platform);
  t.is((await platform.call('GET', `/orgs/sites/${siteId}`, { token: viewer.token })).status, 200);
  t.is((await platform.call('DELETE', `/orgs/sites/${siteId}`, { token: viewer.token })).status, 403);
  const [denied] = await platform.audits({ orgId });
  t.like(denied, { action: 'site.delete', result: 'denied', actor_id: viewer.id });
});

test('a user limited to one site sees only that site and creates none', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  await platform.sql(`insert into sites (org_id, name) values ($1, 'Elsewhere')`, [orgId]);
  const { token } = await orgUser(platform, { orgId, siteIds: [siteId] });
  const list = await platform.call<{ data: { id: string }[] }>('GET', '/orgs/sites', { token });
  t.deepEqual(
    list.body.data.map((site) => site.id),
    [siteId],
  );
  const made = await platform.call<ErrorBody>('POST', '/orgs/sites', { token, body: { orgId, name: 'Third' } });
  t.is(made.status, 403);
  t.is(made.body.error.message, 'Access to this site denied');
});

test('bad input names its path and writes nothing', async (t) => {
  const { partner, orgId } = await tenant(platform);
  const { token } = partner;
  const bad = await platform.call<ErrorBody>('POST', '/orgs/sites', {
    token,
    body: { orgId, name: '', timezone: 'Mars/Base', extra: 1 },
  });
  t.is(bad.status, 400);
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), ['extra', 'name', 'timezone']);
  const empty = await platform.call<ErrorBody>('PATCH', `/orgs/sites/${orgId}`, { token, body: {} });
  t.is(empty.body.error.message, 'No updates provided');
  const [count] = await platform.sql<{ n: number }>('select count(*)::int as n from sites where org_id = $1', [orgId]);
  t.is(count?.n, 1);
});
