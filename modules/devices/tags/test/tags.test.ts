/** Tags: stored in one form, listed, counted and searched, within the reach of the caller. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { organization, orgUser, partnerUser, systemUser, tenant } from '#test';
import { fc } from '#test/properties';
import { asPlatform, enroll } from '../../devices/test/arrange.ts';
import { call, counts, hosts, patch, place, platform, stored, tags } from './ground.ts';

test('a tag is stored once, in lower case, sorted, however it is written, and the change is audited', async (t) => {
  const { token, id, orgId } = await place({ a: [] });
  const { body } = await patch(token, id('a'), ['Prod', ' prod ', 'PROD', '  VIP \t client', 'e\u0301te', '\u00e9te']);
  t.deepEqual(body.data.tags, ['prod', 'vip client', 'éte']);
  t.deepEqual(await stored(id('a')), ['prod', 'vip client', 'éte']);
  await patch(token, id('a'), []);
  const audits = await platform.audits({ orgId, action: 'device.update' });
  t.deepEqual(audits.at(-1)?.details, {
    changedFields: ['tags'],
    before: { tags: ['prod', 'vip client', 'éte'] },
    after: { tags: [] },
  });
});

test('the stored form of a stored form is itself', async (t) => {
  await asPlatform(platform, async (ctx) => {
    const { tagKey } = ctx.use('devices');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => tagKey(tagKey(text)) === tagKey(text)),
    );
    t.is(tagKey(' İstanbul\u00a0\u2003Büro '), 'i̇stanbul büro');
  });
});

test('an invalid tag is an error with its path, and nothing is written', async (t) => {
  const { token, id } = await place({ a: ['kept'] });
  const refused = async (given: string[]) => {
    const { status, body } = await patch(token, id('a'), given);
    return [status, body.error.details.map((detail) => detail.path)];
  };
  t.deepEqual(await refused(['fine', 'x'.repeat(51), 'a,b', 'a"b', 'a\\b', '   ', 'a\u0007b', 'sys:pilot']), [
    400,
    ['tags.1', 'tags.2', 'tags.3', 'tags.4', 'tags.5', 'tags.6', 'tags.7'],
  ]);
  t.is((await patch(token, id('a'), [`  ${'💻'.repeat(50)} `])).status, 200, 'characters are counted, not bytes');
  await patch(token, id('a'), ['kept']);
  const many = (n: number) => Array.from({ length: n }, (_, index) => `tag-${index}`);
  t.is((await patch(token, id('a'), many(51))).status, 400);
  t.deepEqual(await stored(id('a')), ['kept']);
  t.is((await patch(token, id('a'), many(50))).status, 200);
  await t.throwsAsync(platform.sql(`update devices set tags = tags || '{one more}'::text[] where id = $1`, [id('a')]), {
    message: /devices_tags_few/,
  });
});

test('tags of the platform stay when users replace tags, and users cannot add any', async (t) => {
  const { token, id } = await place({ a: [] });
  await platform.sql(`update devices set tags = '{sys:imported}' where id = $1`, [id('a')]);
  t.deepEqual((await patch(token, id('a'), ['mine'])).body.data.tags, ['mine', 'sys:imported']);
  t.deepEqual((await patch(token, id('a'), ['mine', 'SYS:imported'])).body.data.tags, ['mine', 'sys:imported']);
  t.is((await patch(token, id('a'), ['Sys:other'])).status, 400);
  const bulk = await call('POST', '/tags/bulk', token, { deviceIds: [id('a')], remove: ['sys:imported'] });
  t.is(bulk.status, 400);
});

test('tags are counted over the devices that the caller sees, the most frequent first', async (t) => {
  const { token, partner, partnerId, orgId, siteId, id } = await place({
    a: ['prod', 'web'],
    b: ['prod', 'db'],
    c: ['prod', 'web'],
    gone: ['prod', 'last'],
  });
  await call('DELETE', `/devices/${id('gone')}`, token);
  t.deepEqual(await counts(token), ['prod 3', 'web 2', 'db 1']);
  t.deepEqual(await counts(token, '?sort=name'), ['db 1', 'prod 3', 'web 2']);
  t.deepEqual(await counts(token, '?search=%20EB'), ['web 2']);
  t.deepEqual(await counts(token, '?search=%25'), []);
  t.deepEqual(await counts(token, '?page=2&limit=2'), ['db 1']);
  t.like(await tags(token, '?page=9'), { data: [], total: 3, pagination: { page: 9, limit: 100, total: 3 } });
  for (const sort of ['count', 'name']) {
    const all = await counts(token, `?sort=${sort}`);
    const first = await tags(token, `?sort=${sort}&limit=2&cursor=`);
    const rest = await counts(token, `?sort=${sort}&limit=2&cursor=${first.pagination.cursor}`);
    t.deepEqual([...first.data.map((one) => `${one.tag} ${one.deviceCount}`), ...rest], all);
  }
  t.is((await call('GET', '/tags?cursor=abc', token)).body.error.code, 'INVALID_CURSOR');
  t.deepEqual((await tags(token)).data[0], { id: 'prod', name: 'prod', tag: 'prod', deviceCount: 3 });
  const other = await organization(platform, partnerId);
  const far = await enroll(platform, other, { hostname: 'far' });
  await patch(partner.token, far.deviceId, ['prod']);
  t.like((await tags(partner.token)).data[0], { tag: 'prod', deviceCount: 4, orgIds: [orgId, other.orgId].sort() });
  t.deepEqual(await counts(partner.token, `?orgId=${other.orgId}`), ['prod 1']);
  t.deepEqual(await counts(partner.token, `?siteId=${siteId}`), ['prod 3', 'web 2', 'db 1']);
  t.is((await call('GET', `/tags?siteId=${randomUUID()}`, partner.token)).status, 404);
  const none = await partnerUser(platform, {
    partnerId,
    roleId: (await tenant(platform)).partnerRoleId,
    orgAccess: 'none',
  });
  t.deepEqual(await counts(none.token), []);
});

test('tags of another tenant appear nowhere', async (t) => {
  const [mine, theirs] = [await place({ a: ['mine'] }), await place({ b: ['theirs', 'secret'] })];
  t.deepEqual(await counts(mine.partner.token), ['mine 1']);
  t.deepEqual(await counts(mine.token, '?search=secret'), []);
  t.deepEqual(await hosts(mine.partner.token, 'tag=theirs,mine'), ['a']);
  for (const path of ['/tags?', '/tags/devices?tag=x&']) {
    t.is((await call('GET', `${path}orgId=${theirs.orgId}`, mine.partner.token)).status, 404);
    t.is((await call('GET', `${path}orgId=${theirs.orgId}`, mine.token)).status, 403);
  }
  const bulk = await call<{ failed: object[] }>('POST', '/tags/bulk', mine.partner.token, {
    deviceIds: [theirs.id('b')],
    add: ['x'],
  });
  t.deepEqual(bulk.body, {
    changed: 0,
    unchanged: 0,
    failed: [{ deviceId: theirs.id('b'), code: 'NOT_FOUND' }],
  } as never);
  const rename = { orgId: theirs.orgId, from: 'theirs', to: 'ours' };
  t.is((await call('POST', '/tags/rename', mine.partner.token, rename)).status, 403);
  t.is((await call('POST', '/tags/rename', mine.token, { from: 'theirs', to: 'ours' })).status, 404);
  t.deepEqual(await stored(theirs.id('b')), ['secret', 'theirs']);
});

test('counts of a caller limited to a site or to groups are those of the devices that they can list', async (t) => {
  const { token, id, orgId, siteId } = await place({ a: ['prod'], b: ['prod', 'far'] });
  const [site] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Far') returning id`,
    [orgId],
  );
  await call('PATCH', `/devices/${id('b')}`, token, { siteId: site?.id });
  const group = await call<{ data: { id: string } }>('POST', '/groups', token, {
    name: 'One',
    type: 'static',
    deviceIds: [id('a')],
  });
  const people = [
    await orgUser(platform, { orgId, siteIds: [siteId] }),
    await orgUser(platform, { orgId, deviceGroupIds: [group.body.data.id] }),
  ];
  for (const person of people) {
    t.deepEqual(await counts(person.token, '?search=prod'), ['prod 1']);
    t.deepEqual(await counts(person.token, '?search=far'), []);
    t.deepEqual(await hosts(person.token, 'tag=prod'), ['a']);
    const bulk = await call<{ changed: number; failed: { code: string }[] }>('POST', '/tags/bulk', person.token, {
      deviceIds: [id('a'), id('b')],
      add: [`by-${person.id.slice(0, 4)}`],
    });
    t.deepEqual([bulk.body.changed, bulk.body.failed.map(({ code }) => code)], [1, ['NOT_FOUND']]);
    const rename = await call('POST', '/tags/rename', person.token, { from: 'prod', to: 'production' });
    t.deepEqual([rename.status, rename.body.error.code], [403, 'TARGET_OUT_OF_SCOPE']);
    t.is((await call('POST', '/tags/rename', person.token, { from: 'far', to: 'x' })).status, 404);
  }
  t.is((await call('GET', `/tags?siteId=${site?.id}`, people[0]?.token ?? '')).status, 403);
});

test('devices are listed by any or all of some tags, however these are written', async (t) => {
  const { token } = await place({ a: ['prod', 'web'], b: ['prod'], c: ['web'], d: [] });
  t.deepEqual(await hosts(token, 'tag=%20Prod%20'), ['a', 'b']);
  t.deepEqual(await hosts(token, 'tag=PROD,Web&match=all'), ['a']);
  t.deepEqual(await hosts(token, 'tag=prod&tag=web'), ['a', 'b', 'c']);
  t.deepEqual(await hosts(token, 'tag=prod,web&page=2&limit=2'), ['c']);
  t.deepEqual(await hosts(token, 'tag=unknown'), []);
  const { body } = await call<{ tag: string; pagination: object; data: object[] }>(
    'GET',
    '/tags/devices?tag=%20Prod,WEB',
    token,
  );
  t.is(body.tag, 'prod,web');
  t.deepEqual(body.pagination, { page: 1, limit: 100, total: 3 });
  t.like(body.data[0], { hostname: 'a', siteName: 'Main', tags: ['prod', 'web'] });
  for (const bad of ['', 'tag=', 'tag=a,,b', `tag=${'x'.repeat(51)}`, 'tag=a&match=some']) {
    t.is((await call('GET', `/tags/devices?${bad}`, token)).status, 400, bad);
  }
  const listed = await call<{ devices: object[] }>('GET', '/devices?tag=%20WEB%20', token);
  t.is(listed.body.devices.length, 2);
  const admin = await systemUser(platform);
  t.deepEqual(await hosts(admin.token, 'tag=prod,web&match=all&limit=500').then((all) => all.includes('a')), true);
});
