/** Quarantine, its end, and organizations that approve each new device. */
import test from 'ava';
import { NOWHERE } from '#core';
import { type ErrorBody, enrollAgent, enrollmentKey, orgUser, startTestPlatform, type Tenant, tenant } from '#test';
import { asPlatform, eventsOf, refusalOf } from './arrange.ts';

interface Detail {
  data: { lifecycle: string; status: string; connectivity: string; quarantineReason: string | null };
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, place) });
  return { ...place, agent, id: agent.deviceId, token: place.partner.token };
}
const post = (token: string, id: string, what: string, body?: object) =>
  platform.call<Detail & ErrorBody & { uninstallCommandId?: string }>('POST', `/devices/${id}/${what}`, {
    token,
    ...(body ? { body } : {}),
  });
const reason = { reason: 'cloned token' };

test('a quarantined device is only acknowledged until it is approved, then its old token works again', async (t) => {
  const { agent, id, token, orgId } = await arrange();
  await post(token, id, 'commands', { type: 'lock' });
  const done = await post(token, id, 'quarantine', reason);
  t.like(done.body.data, { lifecycle: 'quarantined', status: 'quarantined', quarantineReason: 'cloned token' });
  const response = await agent.heartbeat();
  t.is(response.status, 200);
  t.deepEqual(response.body.commands, []);
  t.is((await agent.put('software', { software: [] })).status, 403);
  t.deepEqual(refusalOf(await post(token, id, 'commands', { type: 'lock' })), [409, 'INVALID_STATE']);
  const [command] = await platform.sql<{ status: string }>('select status from device_commands where device_id = $1', [
    id,
  ]);
  t.is(command?.status, 'cancelled');
  t.like((await post(token, id, 'approve')).body.data, {
    lifecycle: 'active',
    status: 'offline',
    quarantineReason: null,
  });
  await agent.heartbeat();
  t.like((await platform.call<Detail>('GET', `/devices/${id}`, { token })).body.data, { status: 'online' });
  const story = [
    'devices.enrolled',
    'devices.quarantined',
    'device-commands.finished',
    'devices.approved',
    'devices.online',
  ];
  t.deepEqual((await eventsOf(platform, id)).sort(), story.sort());
  const audits = (await platform.audits({ orgId })).map(({ action }) => action);
  t.true(audits.includes('device.quarantine') && audits.includes('device.approve'));
});

test('a denied device is decommissioned and receives the uninstall command', async (t) => {
  const { agent, id, token, orgId } = await arrange();
  await post(token, id, 'quarantine', reason);
  const denied = await post(token, id, 'deny');
  t.is(denied.status, 200);
  const response = await agent.heartbeat();
  t.true(response.body.uninstall);
  t.deepEqual(
    response.body.commands.map((command) => command.id),
    [denied.body.uninstallCommandId ?? ''],
  );
  const [audit] = await platform.audits({ action: 'device.delete', orgId });
  t.is(audit?.details.mode, 'deny');
});

test('each transition is possible in its own state only, and once', async (t) => {
  const { id, token } = await arrange();
  t.deepEqual(refusalOf(await post(token, id, 'approve')), [409, 'INVALID_STATE']);
  t.deepEqual(refusalOf(await post(token, id, 'deny')), [409, 'INVALID_STATE']);
  const all = await Promise.all([1, 2, 3].map(() => post(token, id, 'quarantine', reason)));
  t.deepEqual(all.map(({ status }) => status).sort(), [200, 409, 409]);
  const details = all.find(({ status }) => status === 409)?.body.error.details;
  t.deepEqual(details, [{ current: 'quarantined', allowed: ['active'] }] as never);
  const both = await Promise.all([post(token, id, 'approve'), post(token, id, 'deny')]);
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
});

test('quarantine requires its permission, reach and a reason', async (t) => {
  const { id, token, viewer, orgId } = await arrange();
  const other = await tenant(platform);
  const elsewhere = await orgUser(platform, { orgId, siteIds: [other.siteId] });
  for (const what of ['quarantine', 'approve', 'deny']) {
    const body = what === 'quarantine' ? reason : undefined;
    t.deepEqual(refusalOf(await post(viewer.token, id, what, body)), [403, 'FORBIDDEN'], what);
    t.deepEqual(refusalOf(await post(other.partner.token, id, what, body)), [404, 'NOT_FOUND'], what);
    t.deepEqual(refusalOf(await post(elsewhere.token, id, what, body)), [404, 'NOT_FOUND'], what);
  }
  t.deepEqual(refusalOf(await post(token, id, 'quarantine', { reason: ' ' })), [400, 'VALIDATION_ERROR']);
});

test('new devices are quarantined if the organization approves devices', async (t) => {
  const place: Tenant = await tenant(platform);
  await platform.sql(`update organizations set settings = '{"devices":{"approveEnrollments":true}}' where id = $1`, [
    place.orgId,
  ]);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, place) });
  const read = () => platform.call<Detail>('GET', `/devices/${agent.deviceId}`, { token: place.partner.token });
  t.like((await read()).body.data, {
    lifecycle: 'quarantined',
    connectivity: 'offline',
    quarantineReason: 'awaits approval',
  });
  t.is((await agent.heartbeat()).status, 200);
  t.is((await read()).body.data.connectivity, 'offline');
  t.is((await post(place.partner.token, agent.deviceId, 'approve')).status, 200);
  await agent.heartbeat();
  t.is((await read()).body.data.status, 'online');
});

test('another module can quarantine active devices only', async (t) => {
  const { id, orgId } = await arrange();
  const suspect = () =>
    asPlatform(platform, (ctx) => ctx.use('devices').quarantine(id, 'certificate differs'), NOWHERE);
  t.true(await suspect());
  t.false(await suspect());
  const [audit] = await platform.audits({ action: 'device.quarantine', orgId });
  t.is(audit?.details.reason, 'certificate differs');
});
