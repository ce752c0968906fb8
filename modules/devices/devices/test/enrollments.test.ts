/** Enrollment: limits, identity, and what the authentication of agents reads. */
import test from 'ava';
import { organization, orgUser, startTestPlatform, tenant } from '#test';
import { asPlatform, enroll, heartbeat } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const hardware = { serialNumber: 'SN-1', motherboardSerial: 'MB-1' };
const rowOf = async (id: string) => (await platform.sql('select * from devices where id = $1', [id]))[0] ?? {};
const goOffline = (id: string) =>
  platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [id]);

test('a device is enrolled active and online, with an audit entry of the agent and an event', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const network = [{ name: 'eth0', ip: '10.0.0.5', mac: '00:11', isPrimary: true }];
  const device = await enroll(
    platform,
    { orgId, siteId },
    { hostname: 'web', hardware, network, deviceRole: 'server' },
  );
  t.regex(device.agentId, /^[0-9a-f]{64}$/);
  t.like(device, { orgId, siteId, hostname: 'web', reattached: false });
  t.like(await rowOf(device.deviceId), { lifecycle: 'active', device_role: 'server', enrollment_ip: '192.0.2.1' });
  const [audit] = await platform.audits({ action: 'device.create', orgId });
  t.like(audit, { actor_type: 'agent', actor_id: device.deviceId, resource_id: device.deviceId });
  t.deepEqual(audit?.details, { via: 'enrollment_key' });
  const [event] = await platform.sql(`select data from events where name = 'devices.enrolled' and org_id = $1`, [
    orgId,
  ]);
  t.deepEqual(event?.data, {
    hostname: 'web',
    via: 'enrollment_key',
    possibleReplacementOf: null,
    cloneSuspected: false,
  });
});

test('of ten concurrent enrollments only as many succeed as the organization has places', async (t) => {
  const place = await tenant(platform);
  await platform.sql('update organizations set max_devices = 3 where id = $1', [place.orgId]);
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => enroll(platform, place)));
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 3);
  const refused = results.find((result) => result.status === 'rejected');
  t.like(refused?.reason, { code: 'DEVICE_LIMIT_REACHED', status: 403 });
  t.deepEqual(refused?.reason.details, [{ currentDevices: 3, maxDevices: 3, level: 'organization' }]);
});

test('the limit of the partner counts all its organizations, also for concurrent enrollments', async (t) => {
  const place = await tenant(platform);
  const other = await organization(platform, place.partnerId);
  await platform.sql('update partners set max_devices = 3 where id = $1', [place.partnerId]);
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, (_, n) => enroll(platform, n % 2 ? place : other)),
  );
  t.is(results.filter(({ status }) => status === 'fulfilled').length, 3);
  const refused = results.find((result) => result.status === 'rejected');
  t.is(refused?.reason.details[0].level, 'partner');
});

test('without proof the same machine gets a new row with a hint, and is a suspected clone of a live device', async (t) => {
  const place = await tenant(platform);
  const old = await enroll(platform, place, { hostname: 'a', hardware });
  const again = await enroll(platform, place, { hostname: 'b', hardware });
  t.not(again.deviceId, old.deviceId);
  t.is((await rowOf(again.deviceId)).possible_replacement_of_device_id, old.deviceId);
  const named = await enroll(platform, place, { hostname: 'A' });
  t.is((await rowOf(named.deviceId)).possible_replacement_of_device_id, old.deviceId);
  const events = await platform.sql<{ device_id: string; data: { cloneSuspected: boolean } }>(
    `select device_id, data from events where name = 'devices.enrolled' and org_id = $1`,
    [place.orgId],
  );
  const suspected = (id: string) => events.find(({ device_id }) => device_id === id)?.data.cloneSuspected;
  t.deepEqual([suspected(again.deviceId), suspected(named.deviceId)], [true, false]);
  const stranger = await enroll(platform, await tenant(platform), { hostname: 'a', hardware });
  t.is((await rowOf(stranger.deviceId)).possible_replacement_of_device_id, null);
});

test('a possible earlier device in a site that the reader does not reach is not named', async (t) => {
  const place = await tenant(platform);
  const [row] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Other') returning id`,
    [place.orgId],
  );
  const other = row?.id ?? '';
  const old = await enroll(platform, { ...place, siteId: other }, { hostname: 'a', hardware });
  const fresh = await enroll(platform, place, { hostname: 'b', hardware });
  const named = async (token: string) => {
    const path = `/devices/${fresh.deviceId}`;
    const { body } = await platform.call<{ data: { possibleReplacementOfDeviceId: string | null } }>('GET', path, {
      token,
    });
    return body.data.possibleReplacementOfDeviceId;
  };
  t.is(await named(place.partner.token), old.deviceId);
  const { token } = await orgUser(platform, { orgId: place.orgId, siteIds: [place.siteId] });
  t.is(await named(token), null);
  const [event] = await platform.sql<{ data: { possibleReplacementOf: string | null; cloneSuspected: boolean } }>(
    `select data from events where name = 'devices.enrolled' and device_id = $1`,
    [fresh.deviceId],
  );
  t.like(event?.data, { possibleReplacementOf: null, cloneSuspected: true });
});

test('a proven device keeps its row, name and tags, even when the limit is reached', async (t) => {
  const place = await tenant(platform);
  const old = await enroll(platform, place, { hostname: 'before' });
  await platform.sql(`update devices set display_name = 'Front desk', tags = '{a}' where id = $1`, [old.deviceId]);
  await platform.sql('update organizations set max_devices = 1 where id = $1', [place.orgId]);
  await goOffline(old.deviceId);
  const back = await enroll(platform, place, { hostname: 'after', reattachTo: old.deviceId });
  t.like(back, { deviceId: old.deviceId, agentId: old.agentId, reattached: true });
  t.like(await rowOf(old.deviceId), { hostname: 'after', display_name: 'Front desk', lifecycle: 'active' });
  const audits = await platform.audits({ action: 'device.create', orgId: place.orgId });
  t.deepEqual(
    audits.map(({ details }) => details.via),
    ['enrollment_key', 'reattach'],
  );
});

test('enrolling again does not end a quarantine, and never revives a decommissioned device', async (t) => {
  const place = await tenant(platform);
  const old = await enroll(platform, place);
  await platform.sql(`update devices set lifecycle = 'quarantined' where id = $1`, [old.deviceId]);
  await t.throwsAsync(() => enroll(platform, place, { reattachTo: old.deviceId }), { message: /quarantined/ });
  await platform.sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [
    old.deviceId,
  ]);
  const fresh = await enroll(platform, place, { reattachTo: old.deviceId });
  t.not(fresh.deviceId, old.deviceId);
  const elsewhere = await tenant(platform);
  t.not((await enroll(platform, elsewhere, { reattachTo: fresh.deviceId })).deviceId, fresh.deviceId);
});

test('if the organization has set so, an offline machine with the same serial and board is reattached', async (t) => {
  const place = await tenant(platform);
  await platform.sql(`update organizations set settings = '{"devices":{"reenroll":"reattach"}}' where id = $1`, [
    place.orgId,
  ]);
  const old = await enroll(platform, place, { hardware });
  t.not(
    (await enroll(platform, place, { hardware: { ...hardware, motherboardSerial: 'MB-2' } })).deviceId,
    old.deviceId,
  );
  const live = await enroll(platform, place, { hardware });
  t.not(live.deviceId, old.deviceId);
  await goOffline(live.deviceId);
  await goOffline(old.deviceId);
  t.true((await enroll(platform, place, { hardware })).reattached);
});

test('an identity has the state of device, organization and partner', async (t) => {
  const place = await tenant(platform);
  const device = await enroll(platform, place);
  await heartbeat(platform, device);
  await platform.sql(`update organizations set status = 'suspended' where id = $1`, [place.orgId]);
  const known = await asPlatform(platform, (ctx) => ctx.use('devices').identify([device.deviceId, place.siteId]));
  t.is(known.length, 1);
  t.like(known[0], {
    agentId: device.agentId,
    partnerId: place.partnerId,
    lifecycle: 'active',
    orgActive: false,
    partnerActive: true,
  });
});
