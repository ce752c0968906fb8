/** Kinds of events that people and plugins cause: who logs in, who gets another role, what hardware changes, what plugins tell. */
import test from 'ava';
import { hashPassword } from '#core/auth';
import { enrollAgent, enrollmentKey, orgUser, ROLES, settled } from '#test';
import { codeOf, openPlatform, openTenant, receiver, until } from './ground.ts';

const platform = await openPlatform();
platform.newcomers = true;
const stop = await platform.platform.tasks.startBackground();
test.after.always(async () => {
  await stop();
  await platform.stop();
});
const PASSWORD = 'quite-a-Long-horse-9';
const login = async ({ id, email }: { id: string; email: string }) => {
  await platform.sql('update users set password_hash = $2 where id = $1', [id, await hashPassword(PASSWORD)]);
  return platform.call('POST', '/auth/login', { body: { email, password: PASSWORD } });
};

test('a login to an organization and a new role arrive; logins to the partner are not the organization’s', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  await at.webhook(to.url, ['user.login', 'user.role_changed']);
  t.is((await login(at.partner)).status, 200);
  t.is((await login(at.viewer)).status, 200);
  const [first] = await until('the login arrives', () => (to.got.length > 0 ? to.got : null));
  t.like(first?.body, {
    type: 'user.login',
    orgId: at.orgId,
    data: { userId: at.viewer.id, via: 'password', mfa: false },
  });
  const technician = await orgUser(platform, { orgId: at.orgId, roleId: ROLES.viewer });
  const { status } = await at.call('POST', `/users/${technician.id}/role`, { roleId: ROLES.orgAdmin });
  t.is(status, 200);
  await until('the role arrives', () => to.got.length === 2);
  t.like(to.got[1]?.body, {
    type: 'user.role_changed',
    data: { userId: technician.id, from: 'Viewer', to: 'Organization Admin' },
  });
});

test('hardware that differs from the last report arrives, with the fields; the first report and a repeat do not', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  await at.webhook(to.url, ['device.hardware_changed']);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, at) });
  const { deviceId } = agent;
  const report = (more: object) =>
    agent.put('hardware', { manufacturer: 'Acme', model: 'One', cpuCores: 4, ramTotalMb: 8192, ...more });
  for (const more of [{}, {}, { ramTotalMb: 16_384, gpuModel: 'Nine' }]) t.is((await report(more)).status, 200);
  await until('it arrives', () => to.got.length > 0);
  t.like(to.got[0]?.body, { type: 'device.hardware_changed', data: { deviceId, fields: ['gpuModel', 'ramTotalMb'] } });
  t.is(
    (await platform.sql(`select 1 from events where name = 'devices.hardware.changed' and device_id = $1`, [deviceId]))
      .length,
    1,
  );
});

test('what plugins tell is subscribed to by plugin and name, in webhooks, history and stream alike', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  const kinds = (await at.call<{ data: { kind: string }[] }>('GET', '/webhooks/event-kinds')).body.data;
  t.true(kinds.some(({ kind }) => kind === 'plugin.<slug>.<name>'));
  await at.webhook(`${to.url}/one`, ['plugin.acme-notes.note.made']);
  await at.webhook(`${to.url}/family`, ['plugin.acme-notes.*']);
  await at.webhook(`${to.url}/all`, ['plugin.*']);
  for (const wrong of [
    'plugin.x',
    'plugin.Acme.noted',
    'plugin.acme-notes.Noted',
    'plugin.event',
    'plugin.<slug>.<name>',
  ]) {
    const refused = await at.call('POST', '/webhooks', { name: 'Wrong', url: to.url, events: [wrong] });
    t.deepEqual([refused.status, codeOf(refused)], [400, 'UNKNOWN_EVENT'], wrong);
  }
  const tell = (slug: string, name: string) =>
    at.emit('plugins.event', { installationId: at.orgId, slug, name, data: { n: 1 } });
  await tell('acme-notes', 'note.made');
  await tell('acme-notes', 'gone');
  await tell('acme-notes2', 'note.made');
  await until('all arrive', () => to.got.length === 6);
  const seen = (path: string) =>
    to.got
      .filter((one) => one.path.endsWith(path))
      .map(({ body }) => body.type)
      .sort();
  t.deepEqual(seen('/one'), ['plugin.acme-notes.note.made']);
  t.deepEqual(seen('/family'), ['plugin.acme-notes.gone', 'plugin.acme-notes.note.made']);
  t.deepEqual(seen('/all').length, 3);
  await settled(platform);
  const history = async (types: string) =>
    (await at.call<{ data: { type: string }[] }>('GET', `/events/history?types=${types}`)).body.data
      .map(({ type }) => type)
      .sort();
  t.deepEqual(await history('plugin.acme-notes.note.made'), ['plugin.acme-notes.note.made']);
  t.deepEqual(await history('plugin.acme-notes.*'), ['plugin.acme-notes.gone', 'plugin.acme-notes.note.made']);
  t.is((await history('plugin.*,device.*')).length, 3);
});
