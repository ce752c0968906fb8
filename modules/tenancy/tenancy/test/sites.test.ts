/** Sites through the API. */
import test from 'ava';
import { type Called, type ErrorBody, enrollAgent, enrollmentKey, orgUser, sharedPlatform, tenant } from '#test';

interface SitePage {
  data: { name: string }[];
  pagination: { cursor: string | null };
}

const platform = await sharedPlatform();
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
  t.deepEqual(audits[1]?.details, {
    changedFields: ['timezone', 'contact'],
    before: { timezone: 'UTC', contact: null },
    after: { timezone: 'Europe/Vienna', contact: { phone: '1' } },
  });
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

test('another partner is denied a site, and naming a foreign organization is denied', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const { token } = theirs.partner;
  for (const method of ['GET', 'DELETE']) {
    const answer = await platform.call<ErrorBody>(method, `/orgs/sites/${mine.siteId}`, { token });
    t.deepEqual([answer.status, answer.body.error.message], [403, 'Access to this site denied']);
  }
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

test('a site that something lies in stays, and the answer counts what', async (t) => {
  const { partner, orgAdmin, orgId, siteId } = await tenant(platform);
  const path = `/orgs/sites/${siteId}`;
  for (const name of ['One', 'Two']) {
    await platform.call('POST', '/enrollment-keys', { token: orgAdmin.token, body: { orgId, siteId, name } });
  }
  await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) });
  const refused = await platform.call<ErrorBody>('DELETE', path, partner);
  t.is(refused.status, 409);
  t.like(refused.body.error, { code: 'IN_USE', message: 'The site is still in use' });
  t.deepEqual(refused.body.error.details as object[], [
    { usedBy: 'devices', count: 1 },
    { usedBy: 'enrollment_keys', count: 3 },
  ]);
  t.is((await platform.call('GET', path, partner)).status, 200);
  await platform.sql('delete from devices where site_id = $1', [siteId]);
  await platform.sql('delete from enrollment_keys where site_id = $1', [siteId]);
  t.is((await platform.call('DELETE', path, partner)).status, 200);
});

test('of two removals at once one finds the site gone', async (t) => {
  const { partner, siteId } = await tenant(platform);
  const remove = () => platform.call('DELETE', `/orgs/sites/${siteId}`, partner);
  const both = await Promise.all([remove(), remove()]);
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 404]);
});

test('an enrollment key made while its site is removed either keeps the site or is not made', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  for (let round = 0; round < 5; round += 1) {
    const [site] = await platform.sql<{ id: string }>(
      `insert into sites (org_id, name) values ($1, 'Race') returning id`,
      [orgId],
    );
    const body = { orgId, siteId: site?.id, name: 'Race' };
    const [made, gone] = await Promise.all([
      platform.call('POST', '/enrollment-keys', { token: orgAdmin.token, body }),
      platform.call('DELETE', `/orgs/sites/${site?.id}`, orgAdmin),
    ]);
    t.true(
      (made.status === 201 && gone.status === 409) || (made.status === 404 && gone.status === 200),
      `${made.status} and ${gone.status}`,
    );
  }
});

test('settings of a site are merged, also by two at once; address and contact are replaced', async (t) => {
  const { partner, siteId } = await tenant(platform);
  const patch = (body: object) => platform.call('PATCH', `/orgs/sites/${siteId}`, { token: partner.token, body });
  await patch({ settings: { door: { code: 1, side: 'north' }, old: true }, address: { city: 'Graz', zip: '8010' } });
  const steps = [{ door: { code: 2 } }, { old: null, lift: true }, { a: 1 }, { b: 2 }];
  await Promise.all(steps.map((settings) => patch({ settings })));
  const changed = await patch({ address: { city: 'Wien' } });
  t.deepEqual((changed.body as { settings: object }).settings, {
    ...{ door: { code: 2, side: 'north' }, lift: true },
    ...{ a: 1, b: 2 },
  });
  t.deepEqual(Object.keys((changed.body as { address: object }).address), ['city']);
});

test('a time zone may be written by each of its names, and an offset is none', async (t) => {
  const { partner, siteId } = await tenant(platform);
  const patch = (timezone: string) =>
    platform.call('PATCH', `/orgs/sites/${siteId}`, { token: partner.token, body: { timezone } });
  for (const zone of ['UTC', 'Etc/GMT+1', 'Asia/Kolkata', 'Asia/Calcutta', 'Europe/Kyiv', 'America/Port-au-Prince']) {
    t.like((await patch(zone)).body, { timezone: zone });
  }
  for (const none of ['+01:00', 'Europe/Nowhere', '', '/etc/passwd']) t.is((await patch(none)).status, 400, none);
});
