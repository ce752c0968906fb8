/** GET /search: what is found, by whom, in which order, and what a faulty category costs. */
import test from 'ava';
import type { Context } from '#core';
import {
  apiKey,
  type ErrorBody,
  organization,
  orgUser,
  partnerUser,
  ROLES,
  startTestPlatform,
  systemUser,
  tenant,
} from '#test';
import { ROUTE_PAIRS } from '../../../../core/tenancy/permissions.ts';
import { enroll } from '../../../devices/devices/test/arrange.ts';
import type { SearchCategory } from '../models/category.ts';
import type { SearchResult } from '../models/result.ts';
import { SETTINGS_PAGES } from '../models/settings-page.ts';

const platform = await startTestPlatform();
const { work } = platform.platform.tasks;
const filled = work.contributions;
/** Categories that one test adds; they find something only for their own text. */
const added: SearchCategory[] = [];
work.contributions = (slot) => (slot === 'search.category' ? [...filled(slot), ...added] : filled(slot));
test.after.always(() => platform.stop());

type Answer = { results: SearchResult[] } & ErrorBody;
const ask = (token: string, q: string, more = '') =>
  platform.call<Answer>('GET', `/search?q=${encodeURIComponent(q)}${more}`, { token });
const found = async (token: string, q: string, type?: string, more = '') =>
  (await ask(token, q, more)).body.results
    .filter((result) => !type || result.type === type)
    .map((result) => result.title);

const named = (place: { orgId: string; siteId: string }, ...hostnames: string[]) =>
  Promise.all(hostnames.map((hostname) => enroll(platform, place, { hostname })));
const display = (deviceId: string, name: string) =>
  platform.sql('update devices set display_name = $2 where id = $1', [deviceId, name]);

test('names that are the text come first, then those that begin with it, then those that hold it', async (t) => {
  const made = await tenant(platform);
  await named(made, 'zz-web', 'aa-web', 'web-02', 'WEB', 'web-01', 'other');
  t.deepEqual(await found(made.orgAdmin.token, ' wEb '), ['WEB', 'web-01', 'web-02', 'aa-web', 'zz-web']);
  t.deepEqual(await found(made.orgAdmin.token, 'web', 'devices', '&limit=2'), ['WEB', 'web-01']);
});

test('a device is found by display name too, once, and shows both names and its organization', async (t) => {
  const made = await tenant(platform);
  const [first, second] = await named(made, 'pc-17', 'reception-1');
  await display(first?.deviceId ?? '', 'Reception');
  await display(second?.deviceId ?? '', 'Reception desk');
  const [{ name } = { name: '' }] = await platform.sql<{ name: string }>(
    'select name from organizations where id = $1',
    [made.orgId],
  );
  const { body } = await ask(made.partner.token, 'reception');
  t.deepEqual(body.results, [
    { id: first?.deviceId ?? '', type: 'devices', title: 'Reception', description: `pc-17, ${name}` },
    { id: second?.deviceId ?? '', type: 'devices', title: 'Reception desk', description: `reception-1, ${name}` },
  ]);
});

test('percent, underscore and backslash are plain characters', async (t) => {
  const made = await tenant(platform);
  await named(made, 'a_b', 'axb', '50%', '50x', 'c\\d', 'x-a_b');
  const { token } = made.orgAdmin;
  t.deepEqual(await found(token, 'a_b', 'devices'), ['a_b', 'x-a_b']);
  t.deepEqual(await found(token, '50%', 'devices'), ['50%']);
  t.deepEqual(await found(token, 'c\\', 'devices'), ['c\\d']);
  t.deepEqual(await found(token, '_', 'devices'), ['a_b', 'x-a_b']);
  await platform.sql(`update organizations set name = 'per%cent_' where id = $1`, [made.orgId]);
  t.deepEqual(await found(made.partner.token, '%c', 'organizations'), ['per%cent_']);
  t.deepEqual(await found(made.partner.token, 'r_c', 'organizations'), []);
});

test('what is asked is bounded', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const status = async (q: string, more = '') => (await ask(orgAdmin.token, q, more)).status;
  t.is(await status('a'.repeat(100)), 200);
  t.is(await status(` ${'a'.repeat(100)} `), 200);
  for (const [q, more] of [
    ['', ''],
    ['   ', ''],
    ['a'.repeat(101), ''],
    ['a\0b', ''],
    ['a', '&limit=0'],
    ['a', '&limit=51'],
    ['a', '&limit=x'],
    ['a', '&type=devices'],
  ] as const) {
    t.is(await status(q, more), 400, `${q} ${more}`);
  }
  t.is((await platform.call('GET', '/search', { token: orgAdmin.token })).status, 400);
  t.is((await platform.call('GET', '/search?q=a')).status, 401);
});

test('twenty results unless asked otherwise, and the one person of that name among them', async (t) => {
  const made = await tenant(platform);
  await platform.sql(
    `insert into devices (org_id, site_id, hostname, os_type, lifecycle) select $1, $2, 'my-ann-' || n, 'linux', 'active'
     from generate_series(1, 60) n`,
    [made.orgId, made.siteId],
  );
  await platform.sql(`update users set name = 'Joann Miller' where id = $1`, [made.viewer.id]);
  const { results } = (await ask(made.orgAdmin.token, 'ann')).body;
  t.is(results.length, 20);
  t.deepEqual(
    results.filter(({ type }) => type === 'users').map(({ title }) => title),
    ['Joann Miller'],
  );
  t.is(results.at(-1)?.type, 'users');
  t.is((await ask(made.orgAdmin.token, 'ann', '&limit=50')).body.results.length, 50);
});

test('each caller finds what the own lists show, and nothing of other tenants, organizations and sites', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const second = await organization(platform, mine.partnerId);
  const [elsewhere] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Elsewhere') returning id`,
    [mine.orgId],
  );
  await named(mine, 'reach-main');
  await named({ orgId: mine.orgId, siteId: elsewhere?.id ?? '' }, 'reach-elsewhere');
  await named(second, 'reach-second');
  await named(theirs, 'reach-foreign');
  for (const [orgId, name] of [
    [mine.orgId, 'Reach one'],
    [second.orgId, 'Reach two'],
    [theirs.orgId, 'Reach foreign'],
  ]) {
    await platform.sql('update organizations set name = $2 where id = $1', [orgId, name]);
  }
  const selected = await partnerUser(platform, {
    partnerId: mine.partnerId,
    roleId: mine.partnerRoleId,
    orgAccess: 'selected',
    orgIds: [second.orgId],
  });
  const none = await partnerUser(platform, {
    partnerId: mine.partnerId,
    roleId: mine.partnerRoleId,
    orgAccess: 'none',
  });
  const atSite = await orgUser(platform, { orgId: mine.orgId, siteIds: [mine.siteId] });
  const inGroup = await orgUser(platform, { orgId: mine.orgId, deviceGroupIds: [mine.siteId] });
  const admin = await systemUser(platform);
  for (const [who, token, devices, organizations] of [
    ['partner', mine.partner.token, ['reach-elsewhere', 'reach-main', 'reach-second'], ['Reach one', 'Reach two']],
    ['selected', selected.token, ['reach-second'], ['Reach two']],
    ['none', none.token, [], []],
    ['organization', mine.orgAdmin.token, ['reach-elsewhere', 'reach-main'], ['Reach one']],
    ['site', atSite.token, ['reach-main'], ['Reach one']],
    ['group', inGroup.token, [], ['Reach one']],
    ['foreign', theirs.partner.token, ['reach-foreign'], ['Reach foreign']],
    [
      'system',
      admin.token,
      ['reach-elsewhere', 'reach-foreign', 'reach-main', 'reach-second'],
      ['Reach foreign', 'Reach one', 'Reach two'],
    ],
  ] as const) {
    t.deepEqual(await found(token, 'reach', 'devices'), [...devices], who);
    t.deepEqual(await found(token, 'EACH', 'devices'), [...devices], who);
    t.deepEqual(await found(token, 'each', 'organizations'), [...organizations], who);
  }
});

test('people are found by name and address where GET /users shows them, invited ones included', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const name = (id: string, text: string) => platform.sql('update users set name = $2 where id = $1', [id, text]);
  await name(mine.viewer.id, 'Quinlan');
  await name(mine.partner.id, 'Quinlan Partner');
  await name(theirs.viewer.id, 'Quinlan Foreign');
  await platform.call('POST', '/users/invite', {
    token: mine.orgAdmin.token,
    body: { email: 'quinlan@example.com', name: 'Ada', roleId: ROLES.viewer },
  });
  const selected = await partnerUser(platform, {
    partnerId: mine.partnerId,
    roleId: mine.partnerRoleId,
    orgAccess: 'selected',
    orgIds: [mine.orgId],
  });
  const people = (token: string) => found(token, 'quinlan', 'users');
  t.deepEqual(await people(mine.orgAdmin.token), ['Quinlan', 'Ada']);
  t.deepEqual(await people(mine.partner.token), ['Quinlan', 'Ada', 'Quinlan Partner']);
  t.deepEqual(await people(selected.token), []);
  t.is((await platform.call('GET', '/users', { token: selected.token })).status, 403);
  t.deepEqual(await people(theirs.orgAdmin.token), ['Quinlan Foreign']);
  t.deepEqual(await people((await systemUser(platform)).token), [
    'Quinlan',
    'Ada',
    'Quinlan Foreign',
    'Quinlan Partner',
  ]);
  const { results } = (await ask(mine.orgAdmin.token, mine.viewer.email)).body;
  t.deepEqual(results, [{ id: mine.viewer.id, type: 'users', title: 'Quinlan', description: mine.viewer.email }]);
});

test('a category is asked only for callers who hold the permission of its list', async (t) => {
  const made = await tenant(platform);
  await named(made, 'users-pc');
  const [role] = await platform.sql<{ id: string }>(
    `insert into roles (org_id, scope, name) values ($1, 'organization', 'Devices only') returning id`,
    [made.orgId],
  );
  const person = await orgUser(platform, { orgId: made.orgId, roleId: role?.id ?? '' });
  const types = async (result: Promise<{ body: Answer }>) => (await result).body.results.map(({ type }) => type);
  t.deepEqual(await types(ask(person.token, 'us')), []);
  await platform.sql(
    `insert into role_permissions (role_id, permission_id) select $1, id from permissions where resource = 'devices' and action = 'view'`,
    [role?.id],
  );
  // A person made just now: what the first may do is cached until somebody says otherwise.
  const other = await orgUser(platform, { orgId: made.orgId, roleId: role?.id ?? '' });
  t.deepEqual(await found(other.token, 'us'), ['users-pc', 'Custom fields']);
  t.deepEqual(await found(made.orgAdmin.token, 'users', 'settings'), ['Users']);
  const key = async (...scopes: string[]) =>
    apiKey(platform, { orgId: made.orgId, scopes, createdBy: made.orgAdmin.id });
  const asKey = async (made: string) => types(platform.call<Answer>('GET', '/search?q=users', { apiKey: made }));
  t.deepEqual(await asKey(await key('devices:read')), ['devices']);
  t.deepEqual(await asKey(await key('users:read')), ['settings']);
  t.deepEqual(await asKey(await key('*')), ['settings', 'devices']);
});

test('every permission that a category or settings page names exists, and each page has an address of its own', (t) => {
  const categories = filled('search.category') as SearchCategory[];
  t.deepEqual(categories.map(({ type }) => type).sort(), ['devices', 'organizations', 'settings', 'users']);
  for (const { permission } of [...categories, ...SETTINGS_PAGES]) {
    t.true(permission === null || ROUTE_PAIRS.has(permission), String(permission));
  }
  t.is(new Set(SETTINGS_PAGES.map(({ href }) => href)).size, SETTINGS_PAGES.length);
});

test('settings pages are found by title and description, with an address, where the caller can use them', async (t) => {
  const made = await tenant(platform);
  const { results } = (await ask(made.orgAdmin.token, 'single sign')).body;
  t.deepEqual(results, [
    {
      id: 'sso',
      type: 'settings',
      title: 'Single sign-on',
      description: 'Login through an identity provider',
      href: '/settings/sso',
    },
  ]);
  t.deepEqual(await found(made.partner.token, 'business hours', 'settings'), ['Partner']);
  t.deepEqual(await found(made.orgAdmin.token, 'business hours', 'settings'), []);
});

test('a category that fails, one that never ends, and one that breaks the transaction take no other with them', async (t) => {
  const made = await tenant(platform);
  await named(made, 'survivor-1');
  await platform.sql(`update users set name = 'Survivor Ann' where id = $1`, [made.viewer.id]);
  const own = (type: string, find: (ctx: Context) => Promise<unknown>): SearchCategory => ({
    type,
    permission: null,
    find: async (ctx, { text }) => {
      if (text !== 'survivor') return [];
      await find(ctx);
      return [{ id: type, title: 'must not be seen', place: 0 }];
    },
  });
  let slowEnded = '';
  added.push(
    own('alerts', async (ctx) => ctx.sql('select 1/0')),
    own('scripts', async () => {
      throw new Error('not today');
    }),
    own('sleepers', async (ctx) => {
      await ctx.sql('select pg_sleep(60)').catch((error: { code?: string }) => {
        slowEnded = error.code ?? '';
        throw error;
      });
    }),
  );
  const answer = await ask(made.orgAdmin.token, 'survivor');
  added.length = 0;
  t.is(answer.status, 200);
  t.deepEqual(
    answer.body.results.map(({ type, title }) => [type, title]),
    [
      ['devices', 'survivor-1'],
      ['users', 'Survivor Ann'],
    ],
  );
  t.is(slowEnded, '57014');
  t.deepEqual(Object.keys(answer.body), ['results']);
});

test('removed devices and removed organizations are not found', async (t) => {
  const made = await tenant(platform);
  const [gone] = await named(made, 'vanish-1', 'vanish-2');
  await platform.sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [
    gone?.deviceId,
  ]);
  t.deepEqual(await found(made.orgAdmin.token, 'vanish'), ['vanish-2']);
  t.deepEqual(await found(made.orgAdmin.token, 'anish'), ['vanish-2']);
  const other = await organization(platform, made.partnerId);
  await platform.sql(`update organizations set name = 'Vanished', deleted_at = now() where id = $1`, [other.orgId]);
  t.deepEqual(await found((await systemUser(platform)).token, 'vanished'), []);
});
