/** What waits for plugins and what stands still: repeats, queues that grow too long, steps that never end, old lines. */
import test from 'ava';
import { switchModule } from '#test';
import { pruneLogs, trimQueues } from '../../services/sweeps.ts';
import { openGround, openTenant, until } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround();
test.after.always(() => ground.stop());
const place = (id: string) => `/plugins/installations/${id}`;
const ONLINE = [{ event: 'device.online', handler: 'on' }];
const KEEPS = `export default { handlers: { on: (event, ctx) => ctx.kv.set(event.id, event.data.hostname) } };`;

/** So many entries that wait until tomorrow, the first the oldest. */
const queue = (id: string, orgId: string, count: number) =>
  ground.platform.sql(
    `insert into plugin_queue (installation_id, org_id, key, kind, body, due_at, created_at)
     select $1, $2, 'event:' || n, 'event', '{}', now() + interval '1 day', now() + n * interval '1 millisecond'
     from generate_series(1, $3) n`,
    [id, orgId, count],
  );
const keys = async (id: string) =>
  (
    await ground.platform.sql<{ key: string }>(
      'select key from plugin_queue where installation_id = $1 order by created_at',
      [id],
    )
  ).map(({ key }) => key);

test.serial(
  'beyond the end of its queue the oldest are dropped, and it is degraded until half of it is done',
  async (t) => {
    const manifest = await ground.register({ permissions: wants('devices:read', 'kv'), hooks: ONLINE }, KEEPS);
    const [at, neighbour] = await Promise.all([openTenant(ground), openTenant(ground)]);
    const [it, other] = [await at.run(manifest), await neighbour.run(manifest)];
    await queue(it.id, at.orgId, 12);
    await queue(other.id, neighbour.orgId, 10);
    await ground.asPlatform((ctx) => trimQueues(ctx, 10));
    t.deepEqual(
      await keys(it.id),
      [3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((n) => `event:${n}`),
    );
    t.is((await keys(other.id)).length, 10);
    t.like(await at.read(it.id), { health: 'degraded', enabled: true });
    t.is((await neighbour.read(other.id)).health, 'ok');
    t.true(
      (await at.logs(it.id, '&level=error')).some(({ message }) =>
        /More than 10 waited: the oldest 2 were dropped/.test(message),
      ),
    );
    const health = await at.call<{ queue: { waiting: number } }>('GET', `${place(it.id)}/health`);
    t.is(health.body.queue.waiting, 10);
    await ground.platform.sql(`delete from plugin_queue where installation_id = $1 and key <= 'event:4'`, [it.id]);
    await ground.asPlatform((ctx) => trimQueues(ctx, 10));
    t.is((await at.read(it.id)).health, 'degraded', 'not yet');
    await ground.platform.sql(`delete from plugin_queue where installation_id = $1 and key <> 'event:9'`, [it.id]);
    await ground.asPlatform((ctx) => trimQueues(ctx, 10));
    t.like(await at.read(it.id), { health: 'ok', errorMessage: null });
  },
);

test.serial('a step that takes longer than ten minutes ends as an error; a removal is tried again', async (t) => {
  const manifest = await ground.register({}, 'export default {};');
  const [at, second, third] = [await openTenant(ground), await openTenant(ground), await openTenant(ground)];
  const ids = await Promise.all([at, second, third].map(async (one) => (await one.install(manifest)).body.data.id));
  await ground.platform.runJobs();
  const [installing, updating, removing] = ids;
  const old = `status_since = now() - interval '11 minutes'`;
  await ground.platform.sql(`update plugin_installations set status = 'installing', ${old} where id = $1`, [
    installing,
  ]);
  await ground.platform.sql(`update plugin_installations set status = 'updating', ${old} where id = $1`, [updating]);
  await ground.platform.sql(`update plugin_installations set status = 'uninstalling', ${old} where id = $1`, [
    removing,
  ]);
  await ground.tick();
  for (const [one, id, what] of [
    [at, installing, 'installing'],
    [second, updating, 'updating'],
  ] as const) {
    t.like(await one.read(id ?? ''), { status: 'error', errorMessage: `${what} took longer than 10 minutes` });
  }
  t.is((await third.call('GET', place(removing ?? ''))).status, 404);
});

test.serial('lines go after 14 days, and beyond so many of an installation', async (t) => {
  const manifest = await ground.register({}, 'export default {};');
  const at = await openTenant(ground);
  const { id } = (await at.install(manifest)).body.data;
  await ground.platform.sql(
    `insert into plugin_logs (installation_id, org_id, level, message, timestamp)
     select $1::uuid, $2::uuid, 'info', 'new ' || n, now() - n * interval '1 minute' from generate_series(1, 6) n
     union all select $1::uuid, $2::uuid, 'info', 'old', now() - interval '15 days'
     union all select $1::uuid, $2::uuid, 'info', 'kept', now() - interval '13 days'`,
    [id, at.orgId],
  );
  const messages = async () => (await at.logs(id)).map(({ message }) => message);
  await ground.asPlatform((ctx) => pruneLogs(ctx));
  t.deepEqual(await messages(), ['new 1', 'new 2', 'new 3', 'new 4', 'new 5', 'new 6', 'kept']);
  await ground.asPlatform((ctx) => pruneLogs(ctx, 4));
  t.deepEqual(await messages(), ['new 1', 'new 2', 'new 3', 'new 4']);
});

test.serial('what a process held that has died is handed over again', async (t) => {
  const manifest = await ground.register({ permissions: wants('devices:read', 'kv'), hooks: ONLINE }, KEEPS);
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  const body = { id: 'held', type: 'device.online', data: { hostname: 'pc' } };
  await ground.platform.sql(
    `insert into plugin_queue (installation_id, org_id, key, kind, body, due_at, lease, leased_until)
     values ($1, $2, 'event:held', 'event', $3, now(), gen_random_uuid(), now())`,
    [id, at.orgId, JSON.stringify(body)],
  );
  t.is(await until('it is handled', async () => (await at.kv(manifest.slug)).held), 'pc');
});

test.serial('a failure that names its time is tried again then, and not before', async (t) => {
  const source = `import { RetryableError } from '@quartermaster/plugin-sdk';
    export default { handlers: { on() { throw new RetryableError('the desk is away', 900_000); } } };`;
  const manifest = await ground.register({ permissions: wants('devices:read'), hooks: ONLINE }, source);
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  await at.emit('devices.online', { hostname: 'pc' });
  const waiting = await until('it waits', async () => {
    const [row] = await ground.platform.sql<{
      seconds: number;
      attempts: number;
    }>(
      `select extract(epoch from due_at - now())::float8 as seconds, attempts from plugin_queue
       where installation_id = $1 and attempts > 0`,
      [id],
    );
    return row;
  });
  t.is(waiting.attempts, 1);
  t.true(waiting.seconds > 120 && waiting.seconds <= 900, `${waiting.seconds}`);
});

test.serial('onUninstall is tried as well as can be: what fails or never ends is removed all the same', async (t) => {
  for (const source of [
    `export default { onUninstall() { throw new Error('no'); } };`,
    'export default { onUninstall: () => new Promise(() => {}) };',
  ]) {
    const at = await openTenant(ground);
    const { id } = (await at.install(await ground.register({}, source))).body.data;
    await ground.platform.runJobs();
    await at.call('PATCH', place(id), { resourceLimits: { wallMsPerCall: 200 } }, ground.admin);
    t.is((await at.call('DELETE', place(id))).status, 200);
    await ground.platform.runJobs();
    t.is((await at.call('GET', place(id))).status, 404);
    await ground.host.logs.flush();
    const lines = await ground.platform.sql('select from plugin_logs where installation_id = $1', [id]);
    t.true(lines.length > 0, 'its log stays, and says that it failed');
  }
});

test.serial(
  'where plugins are off, work for them waits, schedules come round for nothing, and calls do nothing',
  async (t) => {
    const source = `export default {
    actions: { go: (input, ctx) => ctx.kv.set('went', true) },
    handlers: { on: (event, ctx) => ctx.kv.set(event.id, event.data.hostname), tick: (run, ctx) => ctx.kv.set('ticked', true) } };`;
    const manifest = await ground.register(
      {
        permissions: wants('devices:read', 'kv'),
        hooks: ONLINE,
        schedules: [{ name: 'tick', cron: '*/5 * * * *', handler: 'tick' }],
      },
      source,
    );
    const [at, neighbour] = await Promise.all([openTenant(ground), openTenant(ground)]);
    const [{ id }, other] = [await at.run(manifest), await neighbour.run(manifest)];
    await switchModule(ground.platform, at, 'plugins', false);
    const body = JSON.stringify({
      id: 'held',
      type: 'device.online',
      data: { hostname: 'pc' },
    });
    await ground.platform.sql(
      `insert into plugin_queue (installation_id, org_id, key, kind, body)
     values ($1, $2, 'event:held', 'event', $5), ($3, $4, 'event:held', 'event', $5)`,
      [id, at.orgId, other.id, neighbour.orgId, body],
    );
    await ground.platform.sql(
      `update schedules set slot = date_trunc('minute', now()), run_at = date_trunc('minute', now()) where owner_id = any ($1)`,
      [[id, other.id]],
    );
    await ground.tick();
    await until('the neighbour has both', async () => Object.keys(await neighbour.kv(manifest.slug)).length === 2);
    t.deepEqual(await at.kv(manifest.slug), {});
    t.deepEqual(await keys(id), ['event:held'], 'a schedule that comes round meanwhile is not made up for');
    const call = {
      kind: 'handler',
      handler: 'tick',
      hook: 'tick',
      args: [{}],
    } as const;
    t.like(await ground.host.call({ installationId: id, orgId: at.orgId }, call), { ok: false, code: 'BUSY' });
    await switchModule(ground.platform, at, 'plugins', true);
    t.is(await until('it is handled', async () => (await at.kv(manifest.slug)).held), 'pc');
  },
);
