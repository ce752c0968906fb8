/** Processes: how many there are, when they end, and what they may run with. */
import test from 'ava';
import { DEFAULT_LIMITS } from '#plugin-sdk/host';
import type { End } from '../../services/running/process/invocation.ts';
import { watchUsage } from '../../services/running/process/watches.ts';
import type { Running } from '../../services/running/runners/runner.ts';
import { codeOf, openGround, openTenant, until } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround({ PLUGINS_MAX_PROCESSES: '2', PLUGINS_IDLE_SECONDS: '1' });
test.after.always(() => ground.stop());
const place = (id: string) => `/plugins/installations/${id}`;
const GO = { actions: [{ name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' }] };

test.serial('a process that is idle ends, and the next call starts another', async (t) => {
  const manifest = await ground.register(GO, 'let n = 0; export default { handlers: { go: () => ++n } };');
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  t.is((await at.invoke(id, 'go')).body.result, 1);
  await until('it has ended', () => ground.host.processesOf(id) === 0);
  t.is((await at.invoke(id, 'go')).body.result, 1, 'it remembers nothing');
  t.like((await at.call('GET', `${place(id)}/health`)).body, { health: 'ok', crashes: 0, errors: 0 });
});

test.serial('where all places are taken the one that is idle makes room, and a busy one never', async (t) => {
  const waits = `export default { handlers: { async go(call, ctx) {
    await ctx.kv.set('began', 1);
    while (!(await ctx.kv.get('over'))) await new Promise((go) => setTimeout(go, 20));
    return 'over'; } } };`;
  const manifest = await ground.register({ ...GO, permissions: wants('kv') }, waits);
  const quick = await ground.register(GO, 'export default { handlers: { go: () => 1 } };');
  const [a, b, c] = [await openTenant(ground), await openTenant(ground), await openTenant(ground)];
  const [one, two, three] = [await a.run(manifest), await b.run(manifest), await c.run(quick)];
  t.is((await c.invoke(three.id, 'go')).body.result, 1);
  const begun = async (at: typeof a) => until('it works', async () => (await at.kv(manifest.slug)).began);
  const over = (at: typeof a) =>
    ground.platform.sql(`insert into plugin_kv (org_id, slug, key, value, bytes) values ($1, $2, 'over', '1', 1)`, [
      ...[at.orgId, manifest.slug],
    ]);
  const first = a.invoke(one.id, 'go');
  await begun(a);
  const second = b.invoke(two.id, 'go');
  await begun(b);
  t.is(ground.host.processesOf(), 2);
  t.is(ground.host.processesOf(three.id), 0, 'it made room');
  const third = await c.invoke(three.id, 'go');
  t.is(codeOf(third), 'PLUGIN_BUSY');
  await over(a);
  t.is((await first).body.result, 'over');
  t.is((await c.invoke(three.id, 'go')).body.result, 1, 'now there is a place');
  await over(b);
  t.is((await second).body.result, 'over');
});

test.serial('what is revoked is gone with the next call, and what is granted again is there', async (t) => {
  const source = `export default { handlers: { go: (call, ctx) => ctx.kv.set('a', 1).then(() => 'kept', (e) => e.code) } };`;
  const manifest = await ground.register({ ...GO, permissions: wants('kv') }, source);
  const at = await openTenant(ground);
  const { id } = await at.run(manifest);
  t.is((await at.invoke(id, 'go')).body.result, 'kept');
  t.is((await at.call('PATCH', place(id), { grantPermissions: [] })).status, 200);
  t.is((await at.invoke(id, 'go')).body.result, 'PERMISSION_DENIED');
  t.is((await at.call('PATCH', place(id), { grantPermissions: ['kv'] })).status, 200);
  t.is((await at.invoke(id, 'go')).body.result, 'kept');
});

test.serial('a package that is not the one that was agreed to is not run', async (t) => {
  const manifest = await ground.register(GO, 'export default { handlers: { go: () => 1 } };');
  const other = await ground.register(GO, 'export default { handlers: { go: () => "another" } };');
  const at = await openTenant(ground);
  const { id } = (await at.install(manifest)).body.data;
  await ground.platform.runJobs();
  await ground.platform.sql(
    `update plugin_versions v set package_sha256 = o.package_sha256 from plugin_versions o
       join plugin_catalog oc on oc.id = o.catalog_id, plugin_catalog c
     where c.id = v.catalog_id and c.slug = $1 and oc.slug = $2`,
    [manifest.slug, other.slug],
  );
  await until('it is refused', async () => {
    const { body } = await at.call<{ error?: { message: string } }>('POST', `${place(id)}/enable`);
    return /not the one that was agreed to/.test(body.error?.message ?? '');
  });
  t.false((await at.read(id)).enabled);
});

test.serial('enabling waits for the handshake: onEnable has all that was granted', async (t) => {
  const source = `export default { onEnable: (ctx) => ctx.kv.set('ready', ctx.config.desk), handlers: { go: (c, ctx) => ctx.kv.get('ready').then((it) => it.value) } };`;
  const configSchema = { type: 'object' as const, properties: { desk: { type: 'string' as const, default: 'A' } } };
  const at = await openTenant(ground);
  const { id } = await at.run(await ground.register({ ...GO, permissions: wants('kv'), configSchema }, source));
  t.is((await at.invoke(id, 'go')).body.result, 'A');
  const refuses = await ground.register(
    GO,
    `export default { onEnable() { throw new Error('not here'); } , handlers: { go: () => 1 } };`,
  );
  const made = (await at.install(refuses)).body.data;
  await ground.platform.runJobs();
  t.is(codeOf(await at.call('POST', `${place(made.id)}/enable`)), 'PLUGIN_FAILED');
  t.false((await at.read(made.id)).enabled);
});

test.serial(
  'who keeps a processor busy without a word stands back until it says one, and ends when it took too much',
  async (t) => {
    let cpuMs = 0;
    let signs = 0;
    const behind: boolean[] = [];
    const running = {
      usage: () => ({ rssBytes: 0, cpuMs }),
      standBack: (back: boolean) => behind.push(back),
    } as unknown as Running;
    const { promise, resolve } = Promise.withResolvers<End>();
    const doings = () => ({ signs, oldest: { cpuMs: 0, calls: 4 } });
    const stop = watchUsage(running, { ...DEFAULT_LIMITS, cpuMsPerCall: 5_000 }, doings, resolve);
    t.teardown(stop);
    cpuMs = 1_000;
    await until('it stands back', () => behind.at(-1) === true);
    signs += 1;
    await until('it is like everybody again', () => behind.at(-1) === false);
    cpuMs = 5_900;
    await until('it stands back once more', () => behind.length === 3);
    cpuMs = 6_100;
    const { kind, reason } = await promise;
    t.is(kind, 'cpu', 'however many calls wait behind the one that never ends');
    t.regex(reason, /more than 5000 ms of processor time/);
  },
);

test.serial(
  'where a jail is required and cannot be made no plugin runs, and installation and health say why',
  async (t) => {
    const strict = await openGround({ PLUGINS_SANDBOX: 'jail' }, false);
    t.teardown(() => strict.stop());
    const walls = {
      files: 'visible',
      network: 'visible',
      processes: 'visible',
      user: false,
      memory: false,
      calls: false,
    };
    const start = () => t.fail('it was started');
    const isReady = async () => ({ name: 'bare', walls });
    Object.assign(strict.host, { broker: { isReady, start, stop: () => undefined } });
    const at = await openTenant(strict);
    const { id } = (await at.install(await strict.register(GO, 'export default { handlers: { go: () => 1 } };'))).body
      .data;
    await strict.platform.runJobs();
    t.like(await at.read(id), { status: 'error' });
    t.regex(
      (await at.read(id)).errorMessage ?? '',
      /^Plugins do not run on this server \(PLUGINS_SANDBOX=jail\), because there is no jail/,
    );
    t.like((await at.call<{ isolation: object }>('GET', `${place(id)}/health`)).body.isolation, {
      ...walls,
      unavailable: (await at.read(id)).errorMessage,
    });
  },
);

test.serial('a plugin that needs Node runs only where the operator allows it', async (t) => {
  const source = `import { createHash } from 'node:crypto';
    export default { handlers: { go: () => [typeof process.versions.node, createHash('sha256').update('').digest('hex').length] } };`;
  const engine = { api: '^1.0.0', runtime: 'node' as const };
  const at = await openTenant(ground);
  const { id } = (await at.install(await ground.register({ ...GO, engine }, source))).body.data;
  await ground.platform.runJobs();
  t.regex((await at.read(id)).errorMessage ?? '', /needs Node itself .* does not allow \(PLUGINS_NODE_RUNTIME\)/);
  const allowing = await openGround({ PLUGINS_NODE_RUNTIME: 'true' });
  t.teardown(() => allowing.stop());
  const there = await openTenant(allowing);
  const manifest = await allowing.register({ ...GO, engine }, source);
  if ((await allowing.host.walls()).files === 'none') {
    const it = await there.run(manifest);
    t.deepEqual((await there.invoke(it.id, 'go')).body.result, ['string', 64]);
  } else {
    await t.throwsAsync(() => there.run(manifest), { message: /needs Node itself, and there is no jail/ });
  }
});
