/** A broker that is a service of its own and runs the plugins of several servers: `quartermaster plugin-broker`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openGround, openTenant, until } from '../ground.ts';
import { wants } from '../packages.ts';

const COMMAND = join(import.meta.dirname, '../../../../../app/quartermaster.mjs');
const folder = await mkdtemp(join(tmpdir(), 'shared-broker-'));
await chmod(folder, 0o755);
const socket = join(folder, 'plugins.sock');
const brokers: ChildProcess[] = [];

/** Resolves when it listens, with what it has said, or when it has ended. */
async function startBroker(...options: string[]): Promise<{ broker: ChildProcess; said: string }> {
  // Without database, secrets or any other variable.
  const broker = spawn(process.execPath, [COMMAND, 'plugin-broker', ...options], { env: { PATH: process.env.PATH } });
  brokers.push(broker);
  let said = '';
  const { promise, resolve } = Promise.withResolvers<void>();
  broker.stdout.on('data', (text) => {
    said += text;
    resolve();
  });
  broker.stderr.on('data', (text) => (said += text));
  broker.once('close', () => resolve());
  await promise;
  return { broker, said };
}

const ground = await openGround({ PLUGINS_BROKER: socket });
const second = await openGround({ PLUGINS_BROKER: socket });
test.after.always(async () => {
  await Promise.all([ground.stop(), second.stop()]);
  for (const broker of brokers) broker.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const GO = { actions: [{ name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' }] };
const SOURCE = `export default { handlers: { go: async (call, ctx) => { await ctx.kv.set('a', ctx.org.id); return 'done'; }, on: (event, ctx) => ctx.kv.set('heard', event.data.hostname) } };`;

test.serial('two servers use one broker, and lose nothing while it is away', async (t) => {
  const first = await startBroker('--socket', socket);
  t.regex(first.said, /listens at/);
  const tenants = await Promise.all(
    [ground, second].map(async (one) => {
      const at = await openTenant(one);
      const hooks = [{ event: 'device.online', handler: 'on' }];
      const manifest = await one.register({ ...GO, permissions: wants('kv', 'devices:read'), hooks }, SOURCE);
      return { at, manifest, id: (await at.run(manifest)).id, one };
    }),
  );
  for (const { at, manifest, id, one } of tenants) {
    t.is((await at.invoke(id, 'go')).body.result, 'done');
    t.is((await at.kv(manifest.slug)).a, at.orgId);
    t.is((await one.host.walls()).unavailable, null);
  }
  first.broker.kill('SIGKILL');
  const [of] = tenants;
  if (!of) return t.fail();
  const { at, manifest, id, one } = of;
  await until('its processes are noticed as gone', () => one.host.processesOf(id) === 0);
  t.regex((await one.host.walls()).unavailable ?? '', /The broker of plugins at .* cannot be reached/);
  const refused = await at.invoke(id, 'go');
  t.is(refused.status, 503);
  t.regex(refused.body.error?.message ?? '', /cannot be reached/);
  await at.emit('devices.online', { hostname: 'pc-1' });
  await startBroker('--socket', socket);
  t.is(await until('the event is handled', async () => (await at.kv(manifest.slug)).heard), 'pc-1');
  t.is((await at.invoke(id, 'go')).body.result, 'done');
  const { enabled, crashes } = { crashes: null, ...(await at.read(id)) };
  t.deepEqual([enabled, crashes], [true, null], 'and nothing is held against the plugin');
});

test.serial('a server that ends takes only its own plugins along', async (t) => {
  const at = await openTenant(ground);
  const { id } = await at.run(await ground.register({ ...GO, permissions: wants('kv') }, SOURCE));
  const third = await openGround({ PLUGINS_BROKER: socket });
  const other = await openTenant(third);
  const made = await other.run(await third.register({ ...GO, permissions: wants('kv') }, SOURCE));
  t.is((await other.invoke(made.id, 'go')).body.result, 'done');
  t.is((await at.invoke(id, 'go')).body.result, 'done');
  await third.stop();
  const before = await at.read(id);
  t.is((await at.invoke(id, 'go')).body.result, 'done');
  t.is(ground.host.processesOf(id), 1);
  t.is((await at.read(id)).health, before.health);
});

test.serial('it says what is wrong with its options, and does not take the socket of another', async (t) => {
  t.regex((await startBroker()).said, /--socket is missing/);
  t.regex((await startBroker('--socket', socket, '--partner-share', '0')).said, /must be a number from 1 to 100/);
  t.regex((await startBroker('--socket', socket)).said, /Another broker listens/);
  t.regex((await startBroker('--help')).said, /--processors N/);
});
