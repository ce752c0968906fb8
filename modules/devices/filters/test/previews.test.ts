/** What previews show: counts, scopes, removed devices, and the time limit. */
import test from 'ava';
import { type ErrorBody, organization, orgUser, partnerUser, systemUser, tenant } from '#test';
import { heartbeat } from '../../devices/test/arrange.ts';
import { all, any, call, devices, names, type Preview, platform, previewed, where } from './people.ts';

test.after.always(() => platform.stop());

test('a preview counts all devices that match, shows the first of them by name, and has its time', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const hostnames = ['web-3', 'Web-1', 'web-2', ...Array.from({ length: 12 }, (_, n) => `web-x${n}`)];
  const [, first = ''] = await devices({ orgId, siteId }, ...hostnames, 'db-1');
  await heartbeat(platform, { deviceId: first, orgId });
  const conditions = all(where('hostname', 'startsWith', 'web-'));
  const { status, body } = await previewed(orgAdmin.token, conditions, 3);
  t.is(status, 200);
  t.deepEqual(Object.keys(body.data).sort(), ['devices', 'evaluatedAt', 'totalCount']);
  t.is(body.data.totalCount, 15);
  t.deepEqual(
    body.data.devices.map((device) => device.hostname),
    ['Web-1', 'web-2', 'web-3'],
  );
  const { lastSeenAt, ...shown } = body.data.devices[0] as unknown as Record<string, unknown>;
  t.deepEqual(shown, { id: first, hostname: 'Web-1', displayName: null, osType: 'linux', status: 'online' });
  t.regex(String(lastSeenAt), /^\d{4}-\d\d-\d\dT.*Z$/);
  t.true(Math.abs(Date.parse(body.data.evaluatedAt) - Date.now()) < 60_000);
  t.is((await previewed(orgAdmin.token, conditions)).body.data.devices.length, 10);
  t.deepEqual((await previewed(orgAdmin.token, all(where('hostname', 'equals', 'none')))).body.data.devices, []);
  for (const limit of [0, 101])
    t.is((await previewed(orgAdmin.token, conditions, limit)).status, 200, 'clamped, as in lists');
  t.is((await previewed(orgAdmin.token, conditions, 1.5)).status, 400);
});

test('a saved filter is previewed over everything that the caller reaches, regardless of its organization', async (t) => {
  const { partner, orgAdmin, orgId, siteId, partnerId } = await tenant(platform);
  const other = await organization(platform, partnerId);
  await devices({ orgId, siteId }, 'a-1');
  await devices(other, 'a-2', 'b-1');
  const conditions = all(where('hostname', 'startsWith', 'a-'));
  const { id } = (await call('POST', '', orgAdmin.token, { name: 'A', conditions })).body;
  const saved = (token: string, query = '') => call<Preview>('POST', `/${id}/preview${query}`, token);
  t.is((await saved(partner.token)).body.data.totalCount, 2);
  t.is((await saved(orgAdmin.token)).body.data.totalCount, 1);
  t.is((await saved(partner.token, '?limit=1')).body.data.devices.length, 1);
  t.is((await saved(partner.token, '?limit=101')).status, 200, 'a limit in the query is clamped');
  const [own] = await platform.audits({ action: 'filter.saved.preview', orgId });
  t.like(own, { resource_id: id, details: { totalCount: 2, limit: 10 } });
});

test('previews of conditions are audited, for a partner in the audit trail of the partner', async (t) => {
  const { partner, orgAdmin, orgId } = await tenant(platform);
  const conditions = all(where('hostname', 'isNotNull'));
  await previewed(orgAdmin.token, conditions);
  await previewed(partner.token, conditions);
  const audits = await platform.audits({ action: 'filter.preview' });
  t.like(
    audits.find(({ actor_id }) => actor_id === orgAdmin.id),
    { org_id: orgId, details: { totalCount: 0, limit: 10 } },
  );
  t.like(
    audits.find(({ actor_id }) => actor_id === partner.id),
    { org_id: null },
  );
});

test('each caller sees and counts only devices within reach', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const { orgId, siteId, partnerId, partnerRoleId: roleId } = mine;
  const second = await organization(platform, partnerId);
  const [site] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Far') returning id`,
    [orgId],
  );
  await devices({ orgId, siteId }, 'near');
  await devices({ orgId, siteId: site?.id ?? '' }, 'far');
  await devices(second, 'second');
  await devices(theirs, 'foreign');
  const user = (orgAccess: 'selected' | 'none', orgIds: string[]) =>
    partnerUser(platform, { partnerId, roleId, orgAccess, orgIds });
  const atSite = await orgUser(platform, { orgId, siteIds: [siteId] });
  const inGroup = await orgUser(platform, { orgId, deviceGroupIds: [siteId] });
  // With an index, and without one.
  for (const conditions of [
    any(where('hostname', 'contains', 'a'), where('hostname', 'contains', 'e')),
    all(where('osType', 'equals', 'linux')),
    any(where('orgId', 'in', [orgId, second.orgId, theirs.orgId])),
  ]) {
    t.deepEqual(await names(mine.partner.token, conditions), ['far', 'near', 'second']);
    t.deepEqual(await names(mine.orgAdmin.token, conditions), ['far', 'near']);
    t.deepEqual(await names((await user('selected', [second.orgId])).token, conditions), ['second']);
    t.deepEqual(await names((await user('none', [])).token, conditions), []);
    t.deepEqual(await names(atSite.token, conditions), ['near']);
    t.deepEqual(await names(inGroup.token, conditions), []);
    t.deepEqual(await names(theirs.partner.token, conditions), ['foreign']);
  }
  t.is((await previewed(atSite.token, all(where('hostname', 'contains', 'a')))).body.data.totalCount, 1);
  const admin = await systemUser(platform);
  const everywhere = await names(
    admin.token,
    all(where('orgId', 'in', [orgId, theirs.orgId]), where('hostname', 'contains', 'r')),
  );
  t.deepEqual(everywhere, ['far', 'foreign', 'near']);
});

test('decommissioned devices are left out, unless a condition names their status', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const [gone] = await devices({ orgId, siteId }, 'gone', 'here');
  await platform.sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [
    gone,
  ]);
  t.deepEqual(await names(orgAdmin.token, all(where('hostname', 'isNotNull'))), ['here']);
  t.deepEqual(await names(orgAdmin.token, all(where('status', 'notEquals', 'online'))), []);
  t.deepEqual(await names(orgAdmin.token, all(where('status', 'equals', 'decommissioned'))), ['gone']);
  t.deepEqual(await names(orgAdmin.token, any(where('status', 'in', ['decommissioned', 'online']))), ['gone', 'here']);
});

test('software, tags and custom values are found by functions that search only within reach', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  for (const [place, hostname] of [
    [mine, 'mine'],
    [theirs, 'theirs'],
  ] as const) {
    const [id] = await devices(place, hostname, `${hostname}-bare`);
    await platform.sql(`update devices set tags = '{rack}', custom_fields = '{"shelf": "A"}' where id = $1`, [id]);
    await platform.sql(`insert into device_software (device_id, org_id, name) values ($1, $2, 'Chrome')`, [
      id,
      place.orgId,
    ]);
    await platform.sql(
      `insert into custom_fields (org_id, name, field_key, type) values ($1, 'Shelf', 'shelf', 'text')`,
      [place.orgId],
    );
  }
  for (const one of [
    where('software.installed', 'contains', 'chrome'),
    where('tags', 'hasAny', ['rack', 'none']),
    where('tags', 'hasAll', ['rack']),
    where('custom.shelf', 'equals', 'A'),
  ]) {
    t.deepEqual(await names(mine.partner.token, all(one)), ['mine'], one.field);
    t.deepEqual(await names(theirs.orgAdmin.token, all(one)), ['theirs'], one.field);
  }
  t.deepEqual(await names(mine.partner.token, all(where('software.notInstalled', 'contains', 'chrome'))), [
    'mine-bare',
  ]);
  t.deepEqual(await names(mine.partner.token, all(where('custom.shelf', 'notEquals', 'A'))), ['mine-bare']);
});

test('a regular expression that takes too long is canceled, and the connection stays usable', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  await platform.sql(
    `with made as (insert into devices (org_id, site_id, hostname, display_name, os_type, lifecycle)
       select $1, $2, 'slow-' || n, left(repeat(md5(n::text), 8), 255), 'linux', 'active'
       from generate_series(1, 4000) n returning id)
     insert into device_state (device_id, org_id) select id, $1 from made`,
    [orgId, siteId],
  );
  // Together far more than the limit on any machine: each alone takes a fraction of a second.
  const slow = Array.from({ length: 99 }, (_, n) => where('displayName', 'matches', `[0-9a-f]*a[0-9a-f]{${n + 110}}z`));
  const began = performance.now();
  const { status, body } = await previewed(orgAdmin.token, any(...slow));
  t.deepEqual([status, (body as unknown as ErrorBody).error.code], [400, 'FILTER_TOO_EXPENSIVE']);
  t.true(performance.now() - began < 20_000);
  const { id } = (await call('POST', '', orgAdmin.token, { name: 'slow', conditions: any(...slow) })).body;
  const listed = await platform.call<ErrorBody>('GET', `/devices?filterId=${id}`, { token: orgAdmin.token });
  t.is(listed.body.error.code, 'FILTER_TOO_EXPENSIVE');
  const quick = await previewed(orgAdmin.token, all(where('hostname', 'matches', '^slow-1\\d$')));
  t.is(quick.body.data.totalCount, 10);
});
