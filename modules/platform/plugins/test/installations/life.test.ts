/** The life of an installation: consent, configuration, versions, dependencies, and what stays when it goes. */
import test from 'ava';
import { codeOf, openGround, openTenant, type Refused, type Shown } from '../ground.ts';
import { newSlug, wants } from '../packages.ts';

const ground = await openGround({}, false);
test.after.always(() => ground.stop());
const place = (id: string) => `/plugins/installations/${id}`;
const PLAIN = 'export default { handlers: { go: (call, ctx) => ctx.config, on() {} } };';
const GO = { actions: [{ name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' }] };

test.serial('all that is asked for must be agreed to, by somebody who may do it, and nothing else', async (t) => {
  const manifest = await ground.register({ permissions: wants('devices:read', 'devices:tag') }, PLAIN);
  const at = await openTenant(ground);
  const post = (grantPermissions: string[], person = at.orgAdmin, more: object = {}) =>
    at.call<Refused>('POST', '/plugins/installations', { slug: manifest.slug, grantPermissions, ...more }, person);
  const some = await post(['devices:read']);
  t.is(codeOf(some), 'PERMISSION_NOT_GRANTED');
  t.like(some.body.error.details[0], { name: 'devices:tag', destructive: true });
  t.is((await post(['devices:read', 'devices:tag', 'kv'])).status, 400);
  t.is((await post(['devices:read', 'devices:tag'], at.viewer)).status, 403);
  const stranger = await openTenant(ground);
  t.is((await post(['devices:read', 'devices:tag'], at.orgAdmin, { orgId: stranger.orgId })).status, 403);
  t.is((await post(['devices:read', 'devices:tag'])).status, 202);
  t.is(codeOf(await post(['devices:read', 'devices:tag'])), 'ALREADY_INSTALLED');
  const scripts = await ground.register({ permissions: wants('scripts:execute') }, PLAIN);
  t.is((await at.install(scripts)).status, 400, 'not before the operator has verified it');
  await at.call('PATCH', `/plugins/catalog/${scripts.slug}`, { isVerified: true }, ground.admin);
  t.is((await at.install(scripts)).status, 202);
  await at.call('PATCH', `/plugins/catalog/${manifest.slug}`, { isDeprecated: true }, ground.admin);
  t.is(codeOf(await stranger.install(manifest)), 'PLUGIN_DEPRECATED');
  const future = await ground.register({ engine: { api: '^9.0.0' } }, PLAIN);
  t.is(codeOf(await at.install(future)), 'INCOMPATIBLE');
});

test.serial(
  'configuration is held to its form, secrets are sealed and masked, and go to no new destination unseen',
  async (t) => {
    const manifest = await ground.register(
      {
        ...GO,
        permissions: wants('http', 'secrets:config'),
        egress: [{ fromConfig: 'baseUrl' }],
        configSchema: {
          type: 'object',
          properties: {
            baseUrl: { type: 'string', format: 'uri' },
            apiKey: { type: 'string', 'x-secret': true },
            retries: { type: 'integer', default: 3 },
          },
          required: ['baseUrl', 'apiKey'],
        },
      },
      PLAIN,
    );
    const at = await openTenant(ground);
    const bad = await at.install(manifest, { config: { baseUrl: 7, more: 1 } });
    t.is(codeOf(bad), 'CONFIG_INVALID');
    t.deepEqual((bad.body as unknown as Refused).error.details.map(({ path }) => path).sort(), [
      'config.baseUrl',
      'config.more',
    ]);
    const { id } = (await at.install(manifest)).body.data;
    await ground.platform.runJobs();
    const incomplete = await at.call<Refused>('POST', `${place(id)}/enable`);
    t.is(codeOf(incomplete), 'CONFIG_INVALID');
    const patch = (config: object) => at.call('PATCH', place(id), { config });
    t.is((await patch({ baseUrl: 'https://one.example', apiKey: 'top-secret-key' })).status, 200);
    t.deepEqual((await at.read(id)).config, { baseUrl: 'https://one.example', apiKey: '********' });
    t.is(codeOf(await patch({ baseUrl: 'https://two.example', apiKey: '********' })), 'CREDENTIALS_REQUIRED');
    t.is((await patch({ baseUrl: 'https://one.example', apiKey: '********', retries: 1 })).status, 200);
    const everything = JSON.stringify([
      await ground.platform.sql('select * from plugin_installations where id = $1', [id]),
      await ground.platform.audits(),
    ]);
    t.false(everything.includes('top-secret-key'));
    t.is((await at.call('POST', `${place(id)}/enable`)).status, 200);
    t.deepEqual((await at.invoke(id, 'go')).body.result, {
      baseUrl: 'https://one.example',
      apiKey: 'top-secret-key',
      retries: 1,
    });
    t.is((await at.call('PATCH', place(id), { grantPermissions: ['http'] })).status, 200);
    t.deepEqual(
      (await at.invoke(id, 'go')).body.result,
      { baseUrl: 'https://one.example', retries: 1 },
      'revoked at once',
    );
  },
);

test.serial('a version that asks for more waits for consent to what is new; one that fails is undone', async (t) => {
  const slug = newSlug();
  const versions = `export default { onUpgrade: ({ from, to }, ctx) => ctx.kv.set('upgrade', from + '>' + to), handlers: { go: (c, ctx) => 'two', migrate: (config) => ({ ...config, added: true }) } };`;
  const configSchema = { type: 'object' as const, properties: { added: { type: 'boolean' as const } } };
  await ground.register({ slug, ...GO, permissions: wants('kv') }, `export default { handlers: { go: () => 'one' } };`);
  const at = await openTenant(ground);
  const one = await at.run({ slug, permissions: wants('kv') } as never);
  t.is((await at.invoke(one.id, 'go')).body.result, 'one');
  await ground.register(
    {
      slug,
      version: '2.0.0',
      ...GO,
      permissions: wants('kv', 'devices:read'),
      configSchema,
      migrations: [{ from: '^1', handler: 'migrate' }],
    },
    versions,
  );
  const asked = await at.call('PATCH', place(one.id), { version: '2.0.0' });
  t.like(asked.body.data, {
    status: 'installed',
    version: '1.0.0',
    pendingPermissions: ['devices:read'],
    pendingVersion: '2.0.0',
  });
  t.is((await at.invoke(one.id, 'go')).body.result, 'one');
  const agreed = await at.call('PATCH', place(one.id), { version: '2.0.0', grantPermissions: ['kv', 'devices:read'] });
  t.like(agreed.body.data, { status: 'updating', targetVersion: '2.0.0', pendingPermissions: [] });
  await ground.platform.runJobs();
  t.like(await at.read(one.id), {
    status: 'installed',
    version: '2.0.0',
    enabled: true,
    errorMessage: null,
    config: { added: true },
  });
  t.is((await at.invoke(one.id, 'go')).body.result, 'two');
  t.deepEqual(await at.kv(slug), { upgrade: '1.0.0>2.0.0' });
  await ground.register(
    { slug, version: '3.0.0', ...GO, permissions: wants('kv'), configSchema },
    `export default { onUpgrade() { throw new Error('not today'); }, handlers: { go: () => 'three' } };`,
  );
  t.is((await at.call('PATCH', place(one.id), { version: '3.0.0' })).body.data.status, 'updating');
  await ground.platform.runJobs();
  const back = await at.read(one.id);
  t.like(back, { status: 'installed', version: '2.0.0', enabled: true });
  t.regex(back.errorMessage ?? '', /update to 3\.0\.0 was undone: onUpgrade failed: not today/);
  t.is((await at.invoke(one.id, 'go')).body.result, 'two');
});

test.serial('an installation that fails says why, and goes without a trace', async (t) => {
  const at = await openTenant(ground);
  const cases: [string, object, RegExp][] = [
    [`export default { onInstall() { throw new Error('no room'); } };`, {}, /onInstall failed: no room/],
    [
      'export default { handlers: {} };',
      { hooks: [{ event: 'plugin.event', handler: 'missing' }] },
      /handlers that it does not have: missing/,
    ],
    ['this is no code', {}, /Unexpected|identifier|syntax/i],
  ];
  for (const [source, more, reason] of cases) {
    const { id } = (await at.install(await ground.register(more, source))).body.data;
    await ground.platform.runJobs();
    const failed = await at.read(id);
    t.is(failed.status, 'error');
    t.regex(failed.errorMessage ?? '', reason);
    t.is(codeOf(await at.call('POST', `${place(id)}/enable`)), 'INVALID_STATE');
    t.is((await at.call('DELETE', place(id))).status, 200);
    await ground.platform.runJobs();
    t.is((await at.call('GET', place(id))).status, 404);
  }
});

test.serial('enabling and disabling tell the plugin; what depends on it is asked for, or goes along', async (t) => {
  const told = `export default { onEnable: (ctx) => ctx.kv.set('on', 1), onDisable: (ctx) => ctx.kv.set('off', 1), handlers: { go: () => 1 } };`;
  const base = await ground.register({ ...GO, permissions: wants('kv') }, told);
  const above = await ground.register({ dependencies: [{ slug: base.slug, range: '^1' }] }, PLAIN);
  const at = await openTenant(ground);
  t.is(codeOf(await at.install(above)), 'DEPENDENCIES_MISSING');
  const one = await at.run(base);
  const two = await at.run(above);
  t.deepEqual(await at.kv(base.slug), { on: 1 });
  t.is(codeOf(await at.call('POST', `${place(one.id)}/enable`)), 'ALREADY_ENABLED');
  t.is(codeOf(await at.call('POST', `${place(one.id)}/disable`)), 'HAS_DEPENDENTS');
  t.is(codeOf(await at.call('DELETE', place(one.id))), 'HAS_DEPENDENTS');
  t.is((await at.call('POST', `${place(one.id)}/disable`, { cascade: true })).status, 200);
  t.false((await at.read(two.id)).enabled);
  t.deepEqual(await at.kv(base.slug), { on: 1, off: 1 });
  t.is(codeOf(await at.call('POST', `${place(one.id)}/disable`)), 'ALREADY_DISABLED');
  t.is(codeOf(await at.call('POST', `${place(two.id)}/enable`)), 'DEPENDENCIES_MISSING');
  t.is(codeOf(await at.invoke(one.id, 'go')), 'INVALID_STATE');
  t.is(ground.host.processesOf(one.id), 0, 'nothing runs on');
});

test.serial('removal takes what it kept, or leaves it for another time; its log stays', async (t) => {
  const source = `export default { onUninstall: (ctx) => ctx.log.info('bye'), handlers: { go: async (c, ctx) => { await ctx.kv.set('n', 7); return 1; } } };`;
  const manifest = await ground.register({ ...GO, permissions: wants('kv') }, source);
  const at = await openTenant(ground);
  const remove = async ({ id }: Shown, query: string) => {
    await at.invoke(id, 'go');
    t.is((await at.call('DELETE', `${place(id)}${query}`)).status, 200);
    await ground.platform.runJobs();
    t.is((await at.call('GET', place(id))).status, 404);
  };
  const first = await at.run(manifest);
  await remove(first, '?keepData=true');
  t.deepEqual(await at.kv(manifest.slug), { n: 7 });
  await remove(await at.run(manifest), '');
  t.deepEqual(await at.kv(manifest.slug), {});
  await ground.host.logs.flush();
  t.true(
    (
      await ground.platform.sql('select from plugin_logs where installation_id = $1 and message = $2', [
        first.id,
        'bye',
      ])
    ).length === 1,
  );
});

test.serial('each step leaves its entry in the trail, with who took it', async (t) => {
  const manifest = await ground.register({ ...GO, permissions: wants('kv') }, PLAIN);
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  await at.invoke(id, 'go');
  await at.call('PATCH', place(id), { grantPermissions: [] });
  await at.call('POST', `${place(id)}/disable`);
  await at.call('DELETE', place(id));
  const entries = (await ground.platform.audits({ orgId: at.orgId })).filter(({ resource_id }) => resource_id === id);
  const expected = ['install', 'enable', 'invoke', 'update', 'disable', 'uninstall'].map((step) => `plugin.${step}`);
  t.deepEqual(
    entries.map(({ action }) => action),
    expected,
  );
  t.true(entries.every(({ actor_id }) => actor_id === at.orgAdmin.id));
});
