/** From an event to its plugin and back: installing, enabling and hearing takes no restart, and no neighbour notices. */
import test from 'ava';
import { openGround, openTenant, until } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround();
test.after.always(() => ground.stop());

const NOTER = `export default { handlers: { async note(event, ctx) {
  await ctx.kv.set(event.data.hostname, { type: event.type, org: ctx.org.id, id: event.id });
} } };`;

test('installing, enabling and the first event take no restart; the neighbour sees nothing', async (t) => {
  const manifest = await ground.register(
    { permissions: wants('devices:read', 'kv'), hooks: [{ event: 'device.online', handler: 'note' }] },
    NOTER,
  );
  const [at, neighbour] = await Promise.all([openTenant(ground), openTenant(ground)]);
  const made = await at.install(manifest);
  t.is(made.status, 202, JSON.stringify(made.body));
  t.like(made.body.data, { status: 'installing', enabled: false, health: 'ok' });
  const { id } = made.body.data;
  await ground.platform.runJobs();
  t.like(await at.read(id), { status: 'installed', enabled: false, errorMessage: null });
  t.is(ground.host.processesOf(id), 0, 'an idle installation costs no process');
  const enabled = await at.call('POST', `/plugins/installations/${id}/enable`);
  t.is(enabled.status, 200, JSON.stringify(enabled.body));
  await at.emit('devices.online', { hostname: 'pc-1' });
  await neighbour.emit('devices.online', { hostname: 'pc-2' });
  const kv = await until('it is handled', async () => (await at.kv(manifest.slug))['pc-1']);
  t.like(kv, { type: 'device.online', org: at.orgId });
  t.deepEqual(await neighbour.kv(manifest.slug), {});
  t.deepEqual((await neighbour.call<{ data: unknown[] }>('GET', '/plugins/installations')).body.data, []);
  t.is((await neighbour.call('GET', `/plugins/installations/${id}`)).status, 404);
  t.deepEqual(await at.kv(manifest.slug), { 'pc-1': kv });
});
