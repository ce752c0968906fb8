/** Installations of a partner: one for all of its organizations, each of which it serves apart from the others. */
import test from 'ava';
import { orgUser, partnerUser } from '#test';
import { codeOf, openGround, openSibling, openTenant, type Refused, until } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround();
test.after.always(() => ground.stop());
const place = (id: string) => `/plugins/installations/${id}`;
const GO = { actions: [{ name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' }] };
const ONLINE = [{ event: 'device.online', handler: 'on' }];

/** Two organizations of one partner, and how its people install for both. */
async function openPartner() {
  const one = await openTenant(ground);
  const two = await openSibling(ground, one);
  const { partnerId, partner } = one;
  return {
    one,
    two,
    partner,
    partnerId,
    run: (of: Parameters<typeof one.run>[0]) => one.run(of, { partnerId }, partner),
  };
}

test.serial('only people with access to all organizations install for a partner, and once', async (t) => {
  const { one, partner, partnerId } = await openPartner();
  const manifest = await ground.register({ permissions: wants('kv') }, 'export default {};');
  const limited = await partnerUser(ground.platform, {
    ...{ partnerId, roleId: one.partnerRoleId, orgAccess: 'selected' as const, orgIds: [one.orgId] },
  });
  const stranger = await openTenant(ground);
  for (const person of [one.orgAdmin, limited, stranger.partner]) {
    t.is((await one.install(manifest, { partnerId }, person)).status, 403);
  }
  t.is(codeOf(await one.install(manifest, {}, partner)), 'OWNER_REQUIRED');
  t.is(codeOf(await one.install(manifest, { partnerId, orgId: one.orgId }, partner)), 'OWNER_REQUIRED');
  const made = await one.install(manifest, { partnerId }, partner);
  t.is(made.status, 202);
  t.like(made.body.data, { orgId: null, partnerId, inherited: false });
  t.is(codeOf(await one.install(manifest, { partnerId }, partner)), 'ALREADY_INSTALLED');
  await ground.platform.runJobs();
  t.is((await one.call('GET', place(made.body.data.id), undefined, partner)).body.data.status, 'installed');
  t.deepEqual(await ground.ownersOf('plugin.install', made.body.data.id), [`partner:${partnerId}`]);
});

test.serial('its organizations see that it is there, without its configuration, and change nothing', async (t) => {
  const { one, two, partner, run } = await openPartner();
  const configSchema = { type: 'object' as const, properties: { desk: { type: 'string' as const, default: 'A' } } };
  const manifest = await ground.register(
    { ...GO, configSchema },
    `export default { handlers: { go: () => { throw new Error('of one'); } } };`,
  );
  const { id } = await run(manifest);
  t.is((await one.call('PATCH', place(id), { config: { desk: 'secret desk' } }, partner)).status, 200);
  await one.invoke(id, 'go');
  t.regex((await one.call('GET', place(id), undefined, partner)).body.data.errorMessage ?? '', /of one/);
  const limited = await orgUser(ground.platform, { orgId: one.orgId, siteIds: [one.siteId] });
  for (const person of [two.orgAdmin, one.viewer, limited]) {
    const seen = await two.call('GET', place(id), undefined, person);
    t.like(seen.body.data, { inherited: true, config: { desk: '********' }, errorMessage: null, installedBy: null });
    t.like((await two.call('GET', `${place(id)}/health`, undefined, person)).body, { reason: null, calls: null });
  }
  for (const [method, path, body] of [
    ['PATCH', '', { config: {} }],
    ['DELETE', '', undefined],
    ['POST', '/enable', undefined],
    ['POST', '/disable', {}],
  ] as const) {
    t.is((await two.call(method, place(id) + path, body)).status, 403, method + path);
  }
  const list = async (query: string, person = two.orgAdmin) =>
    (await two.call<{ data: { id: string }[] }>('GET', `/plugins/installations${query}`, undefined, person)).body.data;
  t.deepEqual(
    (await list('')).map((row) => row.id),
    [id],
  );
  t.deepEqual(
    (await list(`?orgId=${two.orgId}`, partner)).map((row) => row.id),
    [id],
  );
  const catalog = await two.call<{ data: { installed: object }[] }>('GET', `/plugins/catalog?search=${manifest.slug}`);
  t.like(catalog.body.data[0]?.installed, { id, orgId: null, enabled: true });
  const stranger = await openTenant(ground);
  t.is((await stranger.call('GET', place(id))).status, 404);
  t.is((await stranger.call('GET', place(id), undefined, stranger.partner)).status, 404);
  t.is((await stranger.invoke(id, 'go')).status, 404);
});

test.serial('each event is handled in its own organization, by a process that knows no other', async (t) => {
  const { one, two, run } = await openPartner();
  const source = `const seen = []; export default { handlers: { async on(event, ctx) {
    seen.push(ctx.org.id);
    const devices = await ctx.api.devices.list();
    await ctx.kv.set(event.data.hostname, { seen, org: ctx.org.id, devices: devices.data.map((d) => d.hostname), keys: (await ctx.kv.list()).map((k) => k.key) });
    await ctx.log.info('handled ' + event.data.hostname); } } };`;
  const manifest = await ground.register({ permissions: wants('kv', 'devices:read'), hooks: ONLINE }, source);
  const { id } = await run(manifest);
  const stranger = await openTenant(ground);
  for (const [at, hostname] of [
    [one, 'pc-1'],
    [two, 'pc-2'],
  ] as const) {
    await at.device(hostname);
    await at.emit('devices.online', { hostname });
  }
  await stranger.emit('devices.online', { hostname: 'pc-3' });
  for (const [at, hostname] of [
    [one, 'pc-1'],
    [two, 'pc-2'],
  ] as const) {
    const kept = await until(`${hostname} is handled`, async () => (await at.kv(manifest.slug))[hostname]);
    t.deepEqual(kept, { seen: [at.orgId], org: at.orgId, devices: [hostname], keys: [] });
    t.deepEqual(Object.keys(await at.kv(manifest.slug)), [hostname]);
    const lines = await until('its line is there', async () => {
      const all = (await at.logs(id)).map(({ message }) => message);
      return all.length > 0 ? all : null;
    });
    t.deepEqual(lines, [`handled ${hostname}`], 'and no line of another organization');
  }
  t.true(ground.host.processesOf(id) >= 2);
  t.deepEqual(await stranger.kv(manifest.slug), {});
  const all = await one.call<{ data: { orgId: string }[] }>('GET', `${place(id)}/logs`, undefined, one.partner);
  t.deepEqual([...new Set(all.body.data.map(({ orgId }) => orgId))].sort(), [one.orgId, two.orgId].sort());
});

test.serial(
  "an organization's own installation serves it alone, and keeps apart what the partner's has kept",
  async (t) => {
    const { one, two, partner, run } = await openPartner();
    const source = `export default { handlers: { async on(event, ctx) {
    await ctx.kv.set(event.data.hostname, { who: ctx.config.who ?? 'partner', keys: (await ctx.kv.list()).map((k) => k.key) }); },
    go: (call, ctx) => ctx.kv.list().then((all) => all.length) } };`;
    const configSchema = { type: 'object' as const, properties: { who: { type: 'string' as const } } };
    const manifest = await ground.register(
      { ...GO, permissions: wants('kv', 'devices:read'), hooks: ONLINE, configSchema },
      source,
    );
    const ofPartner = await run(manifest);
    await two.emit('devices.online', { hostname: 'before' });
    await until('the partner’s hears', async () => (await two.kv(manifest.slug)).before);
    const own = await two.run(manifest, { config: { who: 'own' } });
    await one.emit('devices.online', { hostname: 'after' });
    await two.emit('devices.online', { hostname: 'after' });
    t.like(await until('one', async () => (await one.kv(manifest.slug)).after), { who: 'partner' });
    t.deepEqual(await until('two', async () => (await two.kv(manifest.slug)).after), { who: 'own', keys: [] });
    t.is((await two.invoke(ofPartner.id, 'go')).status, 404, 'it does not serve this organization any more');
    t.is((await two.invoke(own.id, 'go')).body.result, 1);
    const catalog = await two.call<{ data: { installed: object }[] }>(
      'GET',
      `/plugins/catalog?search=${manifest.slug}`,
    );
    t.like(catalog.body.data[0]?.installed, { id: own.id });
    t.is((await one.call('DELETE', place(ofPartner.id), undefined, partner)).status, 200);
    await ground.platform.runJobs();
    t.deepEqual(await one.kv(manifest.slug), {}, 'what it kept everywhere goes with it');
    t.deepEqual(Object.keys(await two.kv(manifest.slug)), ['after']);
  },
);

test.serial('schedules come round once for each organization, and actions act where they are asked for', async (t) => {
  const { one, two, partner, run } = await openPartner();
  const source = `export default { handlers: { tick: (run, ctx) => ctx.kv.set('tick', ctx.org.id), go: (call, ctx) => [ctx.org.id, call.target.id] } };`;
  const schedules = [{ name: 'tick', cron: '*/5 * * * *', handler: 'tick' }];
  const manifest = await ground.register({ ...GO, permissions: wants('kv'), schedules }, source);
  const { id } = await run(manifest);
  await ground.platform.sql(
    `update schedules set slot = date_trunc('minute', now()), run_at = date_trunc('minute', now()) where owner_id = $1`,
    [id],
  );
  await ground.tick();
  for (const at of [one, two]) t.is(await until('it ticks', async () => (await at.kv(manifest.slug)).tick), at.orgId);
  t.deepEqual((await two.invoke(id, 'go')).body.result, [two.orgId, two.orgId]);
  const byPartner = (targetId?: string) =>
    one.call<{ result: unknown } & Partial<Refused>>(
      'POST',
      `${place(id)}/invoke/go`,
      targetId ? { targetId } : {},
      partner,
    );
  t.deepEqual((await byPartner(one.orgId)).body.result, [one.orgId, one.orgId]);
  t.is((await byPartner()).status, 400, 'which organization?');
  t.is((await byPartner((await openTenant(ground)).orgId)).status, 403);
  const invoked = await ground.platform.audits({ action: 'plugin.invoke', orgId: two.orgId });
  t.is(invoked.length, 1, 'in the trail of the organization that it was done in');
});

test.serial('steps of its life concern no organization, and their lines are the partner’s alone', async (t) => {
  const { one, partner, partnerId, run } = await openPartner();
  const source = `export default { async onEnable(ctx) { await ctx.log.info('for ' + ctx.org.id); await ctx.log.warn(await ctx.kv.set('a', 1).catch((e) => e.code)); } };`;
  const { id } = await run(await ground.register({ permissions: wants('kv') }, source));
  await ground.host.logs.flush();
  const lines = async (person = partner) => {
    const { body } = await one.call<{ data: { message: string }[] }>('GET', `${place(id)}/logs`, undefined, person);
    return body.data.map(({ message }) => message);
  };
  t.true((await lines()).includes(`for ${partnerId}`));
  t.true((await lines()).includes('NOT_AVAILABLE'));
  t.deepEqual(await lines(one.orgAdmin), []);
});

test.serial('crashes in its organizations switch it off everywhere, and the partner is told', async (t) => {
  const { one, two, partner, partnerId, run } = await openPartner();
  const source = `export default { handlers: { on() { setTimeout(() => { throw new TypeError('left alone'); }, 0); return new Promise(() => {}); } } };`;
  const { id } = await run(await ground.register({ permissions: wants('devices:read'), hooks: ONLINE }, source));
  await ground.platform.sql(
    `update plugin_installations set crashes = array_fill(now() - interval '1 minute', array[3]) where id = $1`,
    [id],
  );
  await one.emit('devices.online', { hostname: 'pc' });
  await two.emit('devices.online', { hostname: 'pc' });
  const off = await until('it is switched off', async () => {
    const seen = (await one.call('GET', place(id), undefined, partner)).body.data;
    return seen.health === 'disabled_by_system' ? seen : null;
  });
  t.regex(off.errorMessage ?? '', /5 times in 10 minutes/);
  t.deepEqual(await ground.ownersOf('plugin.quarantine', id), [`partner:${partnerId}`]);
  t.like(await two.read(id), { enabled: false, errorMessage: null });
});

test.serial('a plugin of an organization may depend on one of its partner', async (t) => {
  const { one, partner, run } = await openPartner();
  const base = await ground.register(GO, 'export default { handlers: { go: () => 1 } };');
  const above = await ground.register({ dependencies: [{ slug: base.slug, range: '^1' }] }, 'export default {};');
  t.is(codeOf(await one.install(above)), 'DEPENDENCIES_MISSING');
  const { id } = await run(base);
  const two = await one.run(above);
  const refused = await one.call<Refused>('POST', `${place(id)}/disable`, {}, partner);
  t.is(codeOf(refused), 'HAS_DEPENDENTS');
  t.deepEqual(refused.body.error.details, [{ id: two.id, slug: above.slug }]);
  t.is((await one.call('POST', `${place(id)}/disable`, { cascade: true }, partner)).status, 200);
  t.false((await one.read(two.id)).enabled);
});
