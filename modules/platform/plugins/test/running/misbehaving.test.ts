/** Plugins that fail: repeats, quarantine and its reason, schedules, collectors, and what they may tell others. */
import test from 'ava';
import { Deaths } from '../../services/running/deaths.ts';
import { keyOf } from '../../services/running/facts.ts';
import { hurry, openGround, openTenant, until } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround();
test.after.always(() => ground.stop());
const ONLINE = [{ event: 'device.online', handler: 'on' }];
const GO = { actions: [{ name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' }] };

test.serial('what fails is tried again, five times, and a permanent failure is not', async (t) => {
  const source = `let n = 0; export default { handlers: { async on(event, ctx) {
    if (event.data.hostname === 'never') throw Object.assign(new Error('never'), { code: 'PERMANENT' });
    await ctx.kv.set(event.id, ++n); if (n < 3) throw new Error('not yet'); } } };`;
  const manifest = await ground.register({ permissions: wants('devices:read', 'kv'), hooks: ONLINE }, source);
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  await at.emit('devices.online', { hostname: 'pc' });
  await until('the third attempt', async () => {
    await hurry(ground, id);
    return Object.values(await at.kv(manifest.slug))[0] === 3;
  });
  await until(
    'nothing waits',
    async () => (await ground.platform.sql('select from plugin_queue where installation_id = $1', [id])).length === 0,
  );
  await at.emit('devices.online', { hostname: 'never' });
  const given = await until('it is given up', async () =>
    (await at.logs(id)).find(({ message }) => /was given up/.test(message)),
  );
  t.regex(given.message, /was given up: never/);
});

test.serial(
  'a quarantined plugin is enabled at once, and an upgrade starts at once, whatever it crashed before',
  async (t) => {
    const source = `export default { handlers: { go: () => 'went' } };`;
    const manifest = await ground.register(GO, source);
    const { slug } = manifest;
    await ground.register({ ...GO, slug, version: '9.0.0' }, source);
    const at = await openTenant(ground);
    const { id } = await at.run(manifest, { version: manifest.version });
    const crash = () => {
      const key = keyOf({ installationId: id, orgId: at.orgId });
      for (let n = 0; n < 4; n += 1) ground.host.deaths.note(key);
      t.true(ground.host.deaths.wait(key) > 100_000);
    };
    crash();
    await ground.platform.sql(
      `update plugin_installations set enabled = false, health = 'disabled_by_system' where id = $1`,
      [id],
    );
    const enabled = await at.call('POST', `/plugins/installations/${id}/enable`);
    t.is(enabled.status, 200, JSON.stringify(enabled.body));
    t.is((await at.invoke(id, 'go')).body.result, 'went');
    crash();
    t.is((await at.call('PATCH', `/plugins/installations/${id}`, { version: '9.0.0' })).status, 200);
    await ground.platform.runJobs();
    t.like(await at.read(id), { version: '9.0.0', status: 'installed', errorMessage: null });
  },
);

test.serial(
  'five crashes in ten minutes are enough: it is off, the reason is shown, who installed it gets a mail',
  async (t) => {
    const source = `export default { handlers: { on() { setTimeout(() => { throw new TypeError('left alone'); }, 0); return new Promise(() => {}); } } };`;
    const manifest = await ground.register({ permissions: wants('devices:read'), hooks: ONLINE }, source);
    const at = await openTenant(ground);
    const { id } = await at.run(manifest);
    await ground.platform.sql(
      `update plugin_installations set crashes = array_fill(now() - interval '1 minute', array[4]) where id = $1`,
      [id],
    );
    await at.emit('devices.online', { hostname: 'pc' });
    const off = await until('it is switched off', async () => {
      const seen = await at.read(id);
      return seen.health === 'disabled_by_system' ? seen : null;
    });
    t.false(off.enabled);
    t.regex(off.errorMessage ?? '', /TypeError: left alone.*5 times in 10 minutes/);
    t.is((await ground.platform.audits({ action: 'plugin.quarantine', orgId: at.orgId })).length, 1);
    const [job] = await ground.platform.sql<{
      payload: { data: object };
    }>(`select payload from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id where t.identifier = 'plugins/send-notice'`);
    t.like(job?.payload.data, { installationId: id, userId: at.orgAdmin.id });
  },
);

test.serial('what has died is started again only after a while, longer each time', async (t) => {
  const deaths = new Deaths();
  const minute = 60_000;
  const waits = [0, 1, 2, 3, 4].map((n) => {
    deaths.note('it', n * minute);
    return deaths.wait('it', n * minute);
  });
  t.deepEqual(waits, [1_000, 5_000, 30_000, 120_000, 120_000]);
  t.is(deaths.wait('it', 4 * minute + 119_999), 1);
  t.true(deaths.wait('it', 15 * minute) <= 0, 'forgiven');
  t.is(deaths.wait('other', 0), 0);
  const manifest = await ground.register(GO, 'export default { handlers: { go: () => 1 } };');
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  t.is((await at.invoke(id, 'go')).status, 200);
  for (let n = 0; n < 4; n++) ground.host.deaths.note(keyOf({ installationId: id, orgId: at.orgId }));
  t.is((await at.invoke(id, 'go')).status, 200, 'what runs goes on');
  // Other limits need a new process.
  const limits = { resourceLimits: { memoryMb: 200 } };
  t.is((await at.call('PATCH', `/plugins/installations/${id}`, limits, ground.admin)).status, 200);
  const again = await until('it needs a new one', async () => {
    const { status, body } = await at.invoke(id, 'go');
    return status === 200 ? null : body;
  });
  t.regex(again.error?.message ?? '', /just crashed and is not started again yet/);
});

test.serial('more than half of twenty calls that failed are enough', async (t) => {
  const manifest = await ground.register(GO, `export default { handlers: { go() { throw new Error('again'); } } };`);
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  for (let n = 0; n < 19; n++) t.is((await at.invoke(id, 'go')).status, 502);
  t.true((await at.read(id)).enabled);
  await at.invoke(id, 'go');
  const off = await at.read(id);
  t.like(off, { enabled: false, health: 'disabled_by_system' });
  t.regex(off.errorMessage ?? '', /20 of 20 calls failed, the last: again/);
});

test.serial(
  'schedules and collectors run when they are due, once; what a collector may not write is left out',
  async (t) => {
    const source = `export default { handlers: {
    tick: (run, ctx) => ctx.kv.set('tick', run.at),
    later: (run, ctx) => ctx.kv.set('later', run.data.n),
    plan: (run, ctx) => ctx.schedule.once('later', new Date(), { n: 5 }),
    collect: (run, ctx) => ({ values: [{ deviceId: ctx.config.device, fields: { rack: 'R1', other: 'x' } }] }) } };`;
    const manifest = await ground.register(
      {
        permissions: wants('kv', 'customFields:write'),
        configSchema: { type: 'object', properties: { device: { type: 'string' } } },
        schedules: ['tick', 'plan'].map((name) => ({ name, cron: '*/5 * * * *', handler: name })),
        providers: [
          {
            kind: 'collector',
            key: 'racks',
            label: 'Racks',
            handlers: { collect: 'collect' },
            cron: '0 * * * *',
            fields: ['rack'],
          },
        ],
      },
      source,
    );
    const at = await openTenant(ground);
    const device = await at.device('pc');
    await at.call('POST', '/custom-fields', { name: 'Rack', fieldKey: 'rack', type: 'text', editableBy: 'both' });
    const { id } = await at.run(manifest, { config: { device } });
    await ground.platform.sql(
      `update schedules set slot = date_trunc('minute', now()), run_at = date_trunc('minute', now()) where owner_id = $1`,
      [id],
    );
    await ground.tick();
    const kv = await until('all have run', async () => {
      const seen = await at.kv(manifest.slug);
      return seen.tick && seen.later ? seen : null;
    });
    t.is(kv.later, 5);
    await until('the field is written', async () => {
      const [row] = await ground.platform.sql<{ f: object }>('select custom_fields as f from devices where id = $1', [
        device,
      ]);
      return JSON.stringify(row?.f) === '{"rack":"R1"}';
    });
    await until('the log says what was left out', async () =>
      (await at.logs(id)).some(({ message }) => /does not name were left out: other/.test(message)),
    );
    const { body } = await at.call<{ data: object[] }>('GET', '/plugins/providers?kind=collector');
    t.like(body.data[0], { installationId: id, kind: 'collector', key: 'racks', operations: ['collect'] });
  },
);

test.serial('what plugins tell each other ends, and none hears what follows from itself', async (t) => {
  const source = `export default { handlers: { async on(event, ctx) {
    const seen = (await ctx.kv.get('n'))?.value ?? 0; await ctx.kv.set('n', seen + 1);
    await ctx.events.emit('echo', { n: seen }); } } };`;
  const declared = {
    permissions: wants('devices:read', 'kv'),
    hooks: [...ONLINE, { event: 'plugin.event', handler: 'on' }],
  };
  const [ping, pong] = [await ground.register(declared, source), await ground.register(declared, source)];
  const at = await openTenant(ground);
  const [first, second] = [await at.run(ping), await at.run(pong)];
  await at.emit('devices.online', { hostname: 'pc' });
  const echoes = () =>
    ground.platform.sql<{ depth: number; caused_by: string[] }>(
      `select depth, caused_by from events where org_id = $1 and name = 'plugins.event' order by depth, caused_by`,
      [at.orgId],
    );
  await until('each has heard the device and the other', async () => (await echoes()).length === 4);
  await until('the queue is empty', async () => {
    const left = await ground.platform.sql('select from plugin_queue where org_id = $1', [at.orgId]);
    return left.length === 0;
  });
  t.deepEqual([(await at.kv(ping.slug)).n, (await at.kv(pong.slug)).n], [2, 2]);
  const [a, b] = [`plugins:${first.id}`, `plugins:${second.id}`];
  const chains = (await echoes()).map(({ depth, caused_by }) => `${depth} ${caused_by}`).sort();
  t.deepEqual(chains, [`1 ${a}`, `1 ${b}`, `2 ${a},${b}`, `2 ${b},${a}`].sort());
});
