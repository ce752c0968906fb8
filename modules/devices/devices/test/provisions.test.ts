/** Devices that are created before their agents enroll. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import {
  type ErrorBody,
  enrollAgent,
  enrollmentBody,
  organization,
  orgUser,
  partnerUser,
  startTestPlatform,
  systemUser,
  tenant,
} from '#test';
import { enroll, eventsOf, refusalOf, runJob } from './arrange.ts';

interface Made {
  deviceId: string;
  enrollment: { token: string; expiresAt: string; serverUrl: string; installCommand: string };
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

// Each enrollment has its own address, because wrong keys are counted by address.
const provision = (token: string, body: object) =>
  platform.call<Made & ErrorBody>('POST', '/devices/provision', {
    token,
    body: { hostname: `host-${randomUUID().slice(0, 8)}`, osType: 'linux', ...body },
  });
const tryToEnroll = async (token: string, change: object = {}) =>
  refusalOf(await platform.call('POST', '/agents/enroll', { body: enrollmentBody(token, change) }));
const rowOf = async (id: string) => (await platform.sql('select * from devices where id = $1', [id]))[0] ?? {};

test('a device is provisioned, its token enrolls one machine, and it already counted against the limits', async (t) => {
  const { orgId, siteId, partner } = await tenant(platform);
  await platform.sql('update organizations set max_devices = 1 where id = $1', [orgId]);
  const made = await provision(partner.token, {
    orgId,
    siteId,
    hostname: 'desk',
    displayName: 'Front desk',
    tags: ['VIP', 'b'],
    deviceRole: 'server',
  });
  t.is(made.status, 201);
  const { deviceId, enrollment } = made.body;
  t.regex(enrollment.token, /^[0-9a-f]{64}$/);
  t.true(enrollment.installCommand.includes(enrollment.token));
  t.true(Math.abs(Date.parse(enrollment.expiresAt) - Date.now() - 3_600_000) < 60_000);
  const detail = await platform.call<{ data: object }>('GET', `/devices/${deviceId}`, { token: partner.token });
  t.like(detail.body.data, { status: 'pending', lifecycle: 'pending', connectivity: 'offline', enrolledAt: null });
  const stored = await platform.sql('select * from device_provisions where device_id = $1', [deviceId]);
  t.false(JSON.stringify(stored).includes(enrollment.token));
  t.deepEqual(refusalOf(await provision(partner.token, { orgId })), [403, 'DEVICE_LIMIT_REACHED']);

  const agent = await enrollAgent(platform, {
    key: enrollment.token,
    hostname: 'desk-real',
    deviceRole: 'workstation',
  });
  t.is(agent.deviceId, deviceId);
  t.like(await rowOf(deviceId), {
    lifecycle: 'active',
    hostname: 'desk-real',
    display_name: 'Front desk',
    tags: ['b', 'vip'],
    device_role: 'server',
    device_role_source: 'manual',
    possible_replacement_of_device_id: null,
    enrolled_by: partner.id,
  });
  t.is((await agent.heartbeat()).status, 200);
  t.deepEqual(await eventsOf(platform, deviceId), ['devices.provisioned', 'devices.enrolled']);
  const audits = await platform.audits({ action: 'device.create', orgId });
  t.deepEqual(
    audits
      .filter(({ resource_id }) => resource_id === deviceId)
      .map(({ actor_type, details }) => [actor_type, details.via]),
    [
      ['user', 'provision'],
      ['agent', 'provision'],
    ],
  );
  t.deepEqual(await tryToEnroll(enrollment.token), [401, 'ENROLLMENT_FAILED']);
});

test('the last place of a partner is given once, and the error names the limit', async (t) => {
  const { orgId, siteId, partner, partnerId } = await tenant(platform);
  const sister = await organization(platform, partnerId);
  await platform.sql('update partners set max_devices = 1 where id = $1', [partnerId]);
  const both = await Promise.all([{ orgId, siteId }, sister].map((at) => provision(partner.token, at)));
  t.deepEqual(both.map(({ status }) => status).sort(), [201, 403]);
  const refused = both.find(({ status }) => status === 403);
  t.deepEqual(refused?.body.error.details, [{ currentDevices: 1, maxDevices: 1, level: 'partner' }] as never);
});

test('of many machines with one token exactly one enrolls', async (t) => {
  const { orgId, siteId, partner } = await tenant(platform);
  const { body } = await provision(partner.token, { orgId, siteId });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      platform.call('POST', '/agents/enroll', { body: enrollmentBody(body.enrollment.token) }),
    ),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 401, 401, 401, 401]);
  t.is((await platform.sql('select 1 from devices where org_id = $1', [orgId])).length, 1);
});

test('a token that is expired, for another system, or of a decommissioned device is rejected and audited', async (t) => {
  const { orgId, siteId, partner } = await tenant(platform);
  const [old, mac, gone] = await Promise.all([1, 2, 3].map(() => provision(partner.token, { orgId, siteId })));
  await platform.sql(`update device_provisions set expires_at = now() where device_id = $1`, [old?.body.deviceId]);
  await platform.call('DELETE', `/devices/${gone?.body.deviceId}`, { token: partner.token });
  const reasonOf = async (token: string | undefined, change = {}) => {
    const { status, body } = await platform.call<{ error: { code: string; details: { reason: string }[] } }>(
      'POST',
      '/agents/enroll',
      { body: enrollmentBody(token ?? '', change) },
    );
    return [status, body.error.code, body.error.details[0]?.reason];
  };
  const failed = (reason: string) => [401, 'ENROLLMENT_FAILED', reason];
  t.deepEqual(await reasonOf(old?.body.enrollment.token), failed('expired'));
  t.deepEqual(await reasonOf(mac?.body.enrollment.token, { osType: 'macos' }), failed('os_differs'));
  t.deepEqual(await reasonOf(gone?.body.enrollment.token), failed('used'));
  t.is((await platform.sql(`select 1 from devices where org_id = $1 and lifecycle = 'active'`, [orgId])).length, 0);
  const audits = await platform.audits({ action: 'device.create', orgId });
  t.deepEqual(
    audits
      .filter(({ result }) => result === 'failure')
      .map(({ details }) => details.reason)
      .sort(),
    ['expired', 'os_differs', 'used'],
  );
  // The right machine can still enroll.
  t.is((await enrollAgent(platform, { key: mac?.body.enrollment.token ?? '' })).deviceId, mac?.body.deviceId ?? '');
});

test('an existing name is an error with its device, unless duplicates are allowed', async (t) => {
  const place = await tenant(platform);
  const { orgId, siteId, partner } = place;
  const device = await enroll(platform, place, { hostname: 'Twin' });
  const refused = await provision(partner.token, { orgId, siteId, hostname: 'tWIN' });
  t.deepEqual(refusalOf(refused), [409, 'HOSTNAME_COLLISION']);
  t.deepEqual(refused.body.error.details, [{ deviceId: device.deviceId }] as never);
  t.is((await provision(partner.token, { orgId, siteId, hostname: 'twin', allowDuplicate: true })).status, 201);
  const both = await Promise.all([1, 2].map(() => provision(partner.token, { orgId, siteId, hostname: 'Fresh' })));
  t.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
  const [other] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Two') returning id`,
    [orgId],
  );
  const limited = await orgUser(platform, { orgId, siteIds: [other?.id ?? ''] });
  const hidden = await provision(limited.token, { siteId: other?.id, hostname: 'twin' });
  t.deepEqual([...refusalOf(hidden), hidden.body.error.details], [409, 'HOSTNAME_COLLISION', []]);
});

test('organization and site are required where there is a choice, and must be within reach', async (t) => {
  const { orgId, siteId, partner, partnerId, partnerRoleId, viewer, orgAdmin } = await tenant(platform);
  const other = await tenant(platform);
  const sister = await organization(platform, partnerId);
  const code = async (token: string, body: object) => refusalOf(await provision(token, body));
  t.deepEqual(await code(partner.token, {}), [400, 'ORG_REQUIRED']);
  t.deepEqual(await code((await systemUser(platform)).token, {}), [400, 'ORG_REQUIRED']);
  t.deepEqual(await code(partner.token, { orgId: other.orgId }), [403, 'ORG_ACCESS_DENIED']);
  t.deepEqual(await code(partner.token, { orgId, siteId: sister.siteId }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(partner.token, { orgId, siteId: other.siteId }), [404, 'NOT_FOUND']);
  t.deepEqual(await code(viewer.token, {}), [403, 'FORBIDDEN']);
  t.deepEqual(await code(orgAdmin.token, { orgId: sister.orgId }), [403, 'ORG_ACCESS_DENIED']);
  const some = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  t.deepEqual(await code(some.token, { orgId: sister.orgId }), [403, 'ORG_ACCESS_DENIED']);
  t.is((await provision(orgAdmin.token, {})).status, 201, 'its own organization and the only site');
  const [second] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Two') returning id`,
    [orgId],
  );
  t.deepEqual(await code(orgAdmin.token, {}), [400, 'SITE_REQUIRED']);
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  t.deepEqual(await code(limited.token, { siteId: second?.id }), [403, 'SITE_ACCESS_DENIED']);
  const grouped = await orgUser(platform, { orgId, deviceGroupIds: [randomUUID()] });
  t.deepEqual(await code(grouped.token, { siteId }), [403, 'TARGET_OUT_OF_SCOPE']);
  t.deepEqual(await code(orgAdmin.token, { siteId, expiresInMinutes: 4 }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(orgAdmin.token, { siteId, tags: ['a,b'] }), [400, 'VALIDATION_ERROR']);
  t.is((await platform.sql('select 1 from devices where org_id = any($1)', [[orgId, sister.orgId]])).length, 1);
});

test.serial('a device whose machine has not enrolled for thirty days is deleted', async (t) => {
  const { orgId, siteId, partner } = await tenant(platform);
  const [old, young] = await Promise.all([1, 2].map(() => provision(partner.token, { orgId, siteId })));
  await platform.sql(`update devices set created_at = now() - interval '31 days' where id = $1`, [old?.body.deviceId]);
  await runJob(platform, 'devices/expire-provisions');
  const left = await platform.sql<{ id: string }>('select id from devices where org_id = $1', [orgId]);
  t.deepEqual(
    left.map(({ id }) => id),
    [young?.body.deviceId],
  );
  const audits = await platform.audits({ action: 'device.delete', orgId });
  t.deepEqual(
    audits.map(({ resource_id, details }) => [resource_id, details.mode]),
    [[old?.body.deviceId, 'expired']],
  );
  t.deepEqual(await tryToEnroll(old?.body.enrollment.token ?? ''), [401, 'ENROLLMENT_FAILED']);
});
