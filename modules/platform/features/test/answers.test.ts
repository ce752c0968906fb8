/** What can be asked about modules: the list, the effective map, why, and what switching one off would touch. */
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey, organization, startTestPlatform, systemUser, tenant } from '#test';

const platform = await startTestPlatform({ MODULES_DISABLED: 'sso' });
const admin = await systemUser(platform);
test.after.always(() => platform.stop());

const get = async <B>(token: string, path: string) =>
  (await platform.call<B & ErrorBody>('GET', `/modules${path}`, { token })).body;
const patch = (token: string, path: string, body: object) =>
  platform.call('PATCH', `/modules/${path}`, { token, body });

interface Listed {
  key: string;
  title: string;
  enabled: boolean;
  reason: string | null;
  core: boolean;
  levels: string[];
  dependsOn: string[];
  dependents: string[];
  configurable: boolean;
}

test('the list says what each module is, whether it is on here, and who may switch it', async (t) => {
  const { partner, orgAdmin, orgId } = await tenant(platform);
  await patch(partner.token, `organizations/${orgId}/tags`, { enabled: false });
  const of = async (token: string, query = '') =>
    new Map((await get<{ data: Listed[] }>(token, query)).data.map((one) => [one.key, one]));
  const own = await of(orgAdmin.token);
  t.like(own.get('devices'), { core: true, enabled: true, reason: 'core', levels: [], configurable: false });
  t.like(own.get('filters'), { enabled: true, reason: null, dependsOn: [], dependents: ['device-groups', 'tags'] });
  t.like(own.get('tags'), { enabled: false, reason: 'disabled_by_org', configurable: false });
  t.like(own.get('sso'), { enabled: false, reason: 'disabled_by_env' });
  t.like((await of(partner.token)).get('tags'), { enabled: true, configurable: true });
  t.like((await of(partner.token, `?orgId=${orgId}`)).get('tags'), { enabled: false, configurable: true });
  t.like((await of(admin.token)).get('tags'), { enabled: true, configurable: true });
});

test('the effective map has a version that changes with it, and costs no body when nothing did', async (t) => {
  const { partner, orgAdmin, orgId } = await tenant(platform);
  const ask = (etag = '') =>
    fetch(`${platform.url}/api/v1/modules/effective`, {
      headers: { authorization: `Bearer ${orgAdmin.token}`, ...(etag ? { 'if-none-match': etag } : {}) },
    });
  const first = await ask();
  const etag = first.headers.get('etag') ?? '';
  t.is(etag, `"${((await first.json()) as { version: string }).version}"`);
  t.is((await ask(etag)).status, 304);
  await patch(partner.token, `organizations/${orgId}/search`, { enabled: false });
  const changed = await ask(etag);
  t.is(changed.status, 200);
  t.false(((await changed.json()) as { modules: Record<string, boolean> }).modules.search);
});

interface Link {
  check: string;
  passed: boolean;
  message: string;
  module?: string;
  because?: string;
  note?: string;
  by?: string;
}
const chainOf = async (token: string, key: string, query = '') =>
  (await get<{ data: { enabled: boolean; reason: string | null; chain: Link[] } }>(token, `/${key}/why${query}`)).data;

test('why tells everything that has a say, with who said it and what was noted', async (t) => {
  const { partner, orgId } = await tenant(platform);
  await patch(partner.token, `organizations/${orgId}/filters`, { enabled: false, cascade: true, reason: 'too many' });
  const { reason, chain } = await chainOf(partner.token, 'tags', `?orgId=${orgId}`);
  t.is(reason, 'disabled_by_org');
  t.deepEqual(
    chain.map(({ check, passed }) => [check, passed]),
    [
      ['environment', true],
      ['instance', true],
      ['configuration', true],
      ['plan', true],
      ['organization', false],
      ['dependency', true],
      ['dependency', true],
      ['dependency', false],
    ],
  );
  t.like(
    chain.find(({ check }) => check === 'organization'),
    { note: 'too many', by: partner.id },
  );
  t.like(chain.at(-1), { module: 'filters', because: 'disabled_by_org' });
  t.like(await chainOf(partner.token, 'devices'), { enabled: true, reason: 'core' });
  const environment = await chainOf(partner.token, 'sso');
  t.is(environment.reason, 'disabled_by_env');
  t.false(environment.chain[0]?.passed);
  const stranger = await tenant(platform);
  t.is((await get(stranger.partner.token, `/tags/why?orgId=${orgId}`)).error.code, 'NOT_FOUND');
});

test('the impact counts what would be touched, and touches nothing', async (t) => {
  const { partner, orgAdmin, orgId, partnerId, siteId } = await tenant(platform);
  const other = await organization(platform, partnerId);
  const conditions = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };
  const post = (path: string, body: object) => platform.call('POST', path, { token: orgAdmin.token, body });
  t.is((await post('/filters', { name: 'Linux', conditions })).status, 201);
  t.is((await post('/groups', { orgId, siteId, name: 'All', type: 'dynamic', filter: conditions })).status, 201);
  const ask = async (body: object, token = partner.token) =>
    (await platform.call<object>('POST', '/modules/filters/impact', { token, body })).body;
  t.like(await ask({ level: 'organization', orgId }), {
    dependents: ['device-groups', 'tags'],
    objects: { 'saved filters': 1, 'device groups': 1 },
    liveSessions: 0,
    waitingCommands: 0,
  });
  t.like(await ask({ level: 'organization', orgId: other.orgId }), {
    objects: { 'saved filters': 0, 'device groups': 0 },
  });
  t.like(await ask({ level: 'partner' }), { objects: { 'saved filters': 1, 'device groups': 1 } });
  t.like(await ask({ level: 'instance' }), { error: { code: 'FORBIDDEN' } });
  t.like(await ask({ level: 'organization' }), { error: { code: 'ORG_REQUIRED' } });
  const everything = (await ask({ level: 'instance' }, admin.token)) as { objects: Record<string, number> };
  t.true((everything.objects['saved filters'] ?? 0) >= 1);
  t.is((await platform.call('GET', '/filters', { token: orgAdmin.token })).status, 200);
});

test('waiting jobs of a module are counted for the organization they are for', async (t) => {
  const { partner, orgId } = await tenant(platform);
  const row = { task: 'tags/rename-tag', payload: { orgId, requestId: 'x', data: {} }, maxAttempts: 1 };
  await platform.sql('select flush_effects($1::jsonb)', [JSON.stringify({ jobs: [row, row] })]);
  const { body } = await platform.call<{ pendingJobs: number }>('POST', '/modules/tags/impact', {
    token: partner.token,
    body: { level: 'organization', orgId },
  });
  t.is(body.pendingJobs, 2);
});

test('the keepers of a level see all of its switches, with how much each is used', async (t) => {
  const { partner, orgId } = await tenant(platform);
  await patch(partner.token, 'partner/search', { enabled: false, reason: 'nobody looks' });
  await patch(partner.token, `organizations/${orgId}/tags`, { enabled: false });
  const own = new Map(
    (await get<{ data: { key: string }[] }>(partner.token, '/partner')).data.map((row) => [row.key, row]),
  );
  t.like(own.get('search'), { enabled: false, note: 'nobody looks', source: 'manual', updatedBy: partner.id });
  t.like(own.get('tags'), { enabled: true, source: null, organizationsOff: 1 });
  interface Row {
    key: string;
    partnersOn: number;
    objects: Record<string, number>;
  }
  const all = new Map((await get<{ data: Row[] }>(admin.token, '/instance')).data.map((row) => [row.key, row]));
  t.is(all.get('devices')?.partnersOn, (all.get('search')?.partnersOn ?? 0) + 1);
  t.is(typeof all.get('filters')?.objects['saved filters'], 'number');
});

test('what MODULES_DISABLED names is away as if it were not there, and nobody switches it on', async (t) => {
  const { partner } = await tenant(platform);
  const away = await platform.call<ErrorBody>('GET', '/sso/presets', { token: partner.token });
  t.deepEqual([away.status, away.body.error.code], [404, 'MODULE_DISABLED']);
  const tried = await platform.call<ErrorBody>('PATCH', '/modules/instance/sso', {
    token: admin.token,
    body: { enabled: true },
  });
  t.deepEqual([tried.status, tried.body.error.code], [409, 'DISABLED_ABOVE']);
});

test('commands of a module that is switched off are cancelled while no agent has them', async (t) => {
  const { partner, orgId, siteId } = await tenant(platform);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) });
  const order = (type: string) =>
    platform.sql(
      `insert into device_commands (device_id, org_id, submitted_org_id, type, payload, source, deliver_by, execution_timeout_seconds)
       values ($1, $2, $2, $3, '{}', 'system', now() + interval '1 day', 60)`,
      [agent.deviceId, orgId, type],
    );
  await order('reboot');
  await order('shutdown');
  const tags = platform.platform.modules.find(({ module }) => module.name === 'tags');
  Object.assign(tags?.module ?? {}, { commands: ['reboot'] });
  t.teardown(() => Object.assign(tags?.module ?? {}, { commands: undefined }));
  const { body } = await platform.call<{ waitingCommands: number }>('POST', '/modules/tags/impact', {
    token: partner.token,
    body: { level: 'partner' },
  });
  t.is(body.waitingCommands, 1);
  await patch(partner.token, 'partner/tags', { enabled: false });
  await platform.runJobs();
  const rows = await platform.sql<{ type: string; status: string }>(
    'select type, status from device_commands where org_id = $1 order by type',
    [orgId],
  );
  t.deepEqual(rows, [
    { type: 'reboot', status: 'cancelled' },
    { type: 'shutdown', status: 'pending' },
  ]);
});
