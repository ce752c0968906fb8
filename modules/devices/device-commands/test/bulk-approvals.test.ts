/** Bulk commands for more devices than one person may decide about. */
import test from 'ava';
import { apiKey, type Called, type ErrorBody, organization, startTestPlatform, tenant } from '#test';
import { enroll } from '../../devices/test/arrange.ts';

interface Pending {
  approvalId: string;
  status: string;
  deviceCount: number;
  failed: { deviceId: string; code: string }[];
}
interface Shown {
  status: string;
  title: string;
  details: { label: string; value: string }[];
  outcome: string | null;
  outcomeCode: string | null;
  result: { batchId: string; queued: number; skipped: { deviceId: string; code: string }[] } | null;
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange(count: number, limit: number | null = 2) {
  const at = await tenant(platform);
  const devices = await Promise.all(
    Array.from({ length: count }, (_, n) => enroll(platform, at, { hostname: `h${n}` })),
  );
  const path = `/orgs/organizations/${at.orgId}`;
  const body = { settings: { 'device-commands': { approvalAboveDevices: limit } } };
  const set = await platform.call('PATCH', path, { token: at.partner.token, body });
  if (set.status !== 200) throw new Error(JSON.stringify(set.body));
  return { ...at, ids: devices.map(({ deviceId }) => deviceId).sort(), token: at.partner.token };
}
const send = (token: string, deviceIds: string[], body: object = {}): Promise<Called<Pending & ErrorBody>> =>
  platform.call('POST', '/devices/bulk/commands', { token, body: { deviceIds, type: 'reboot', ...body } });
const approve = (token: string, id: string) => platform.call('POST', `/approvals/${id}/approve`, { token, body: {} });
const read = async (token: string, id: string) =>
  (await platform.call<{ data: Shown }>('GET', `/approvals/${id}`, { token })).body.data;
const queued = (orgId: string) =>
  platform.sql<{ device_id: string; created_by: string; source: string; payload: object; batch_id: string }>(
    'select device_id, created_by, source, payload, batch_id from device_commands where org_id = $1 order by device_id',
    [orgId],
  );

test('above the number of devices nothing is queued until a second person approves, and then exactly that', async (t) => {
  const { ids, token, orgId, orgAdmin, partner } = await arrange(3);
  const waiting = await send(token, ids, { payload: { delayMinutes: 5 }, reason: 'Kernel update' });
  t.is(waiting.status, 202);
  t.like(waiting.body, { status: 'pending_approval', deviceCount: 3, failed: [] });
  t.deepEqual(await queued(orgId), []);
  const { approvalId } = waiting.body;
  const seen = await read(orgAdmin.token, approvalId);
  t.is(seen.title, 'reboot for 3 devices');
  t.deepEqual(
    seen.details.map(({ label, value }) => `${label}: ${value}`),
    [
      'Command: reboot',
      'delayMinutes: 5',
      'Devices: h0, h1, h2',
      'Sites: Main',
      'Devices that are offline: get it when they are back',
    ],
  );
  t.is((await approve(token, approvalId)).status, 403);
  t.is((await approve(orgAdmin.token, approvalId)).status, 200);
  await platform.runJobs();
  const rows = await queued(orgId);
  t.deepEqual(
    rows.map(({ device_id }) => device_id),
    ids,
  );
  t.like(rows[0], { created_by: partner.id, source: 'user', payload: { delayMinutes: 5 } });
  const { outcome, result } = await read(token, approvalId);
  t.deepEqual([outcome, result], ['done', { batchId: rows[0]?.batch_id ?? '', queued: 3, skipped: [] }]);
  const trail = await platform.audits({ action: 'device.command.queue', orgId });
  t.is(trail.length, 3);
  t.is(trail[0]?.actor_id, partner.id);
  t.like(trail[0]?.details, { approvalId, approvedBy: orgAdmin.id });
});

test('at the number of devices, without a setting, and to cancel a restart, commands are sent at once', async (t) => {
  const { ids, token } = await arrange(3);
  t.is((await send(token, ids.slice(0, 2))).status, 200);
  t.is((await send(token, ids, { type: 'cancel_reboot' })).status, 200);
  const free = await arrange(3, null);
  t.is((await send(free.token, free.ids)).status, 200);
});

test('what is rejected or changed is not sent; the same command asked again is the same request', async (t) => {
  const { ids, token, orgId, orgAdmin } = await arrange(3);
  const first = await send(token, ids);
  const again = await send(token, ids.toReversed());
  t.deepEqual([again.status, again.body.approvalId], [202, first.body.approvalId]);
  const other = await send(token, ids, { type: 'lock' });
  t.not(other.body.approvalId, first.body.approvalId);
  await platform.call('POST', `/approvals/${first.body.approvalId}/reject`, {
    token: orgAdmin.token,
    body: { reason: 'Not during the day' },
  });
  await platform.runJobs();
  t.deepEqual(await queued(orgId), []);
});

test('devices that have left or cannot take it by then are skipped, each with the reason', async (t) => {
  const { ids, token, orgId, partnerId, orgAdmin } = await arrange(4);
  const [moved = '', gone = '', quarantined = '', left = ''] = ids;
  const { body } = await send(token, ids);
  const elsewhere = await organization(platform, partnerId);
  await platform.sql('update devices set org_id = $2, site_id = $3 where id = $1', [
    moved,
    elsewhere.orgId,
    elsewhere.siteId,
  ]);
  await platform.call('DELETE', `/devices/${gone}`, { token });
  await platform.call('POST', `/devices/${quarantined}/quarantine`, { token, body: { reason: 'x' } });
  await approve(orgAdmin.token, body.approvalId);
  await platform.runJobs();
  const reboots = (await queued(orgId)).filter(({ batch_id }) => batch_id !== null);
  t.deepEqual(
    reboots.map(({ device_id }) => device_id),
    [left],
  );
  const { result } = await read(token, body.approvalId);
  t.is(result?.queued, 1);
  t.deepEqual(Object.fromEntries(result?.skipped.map(({ deviceId, code }) => [ids.indexOf(deviceId), code]) ?? []), {
    0: 'NOT_FOUND',
    1: 'DECOMMISSIONED',
    2: 'INVALID_STATE',
  });
});

test('devices that the asker does not reach count neither for the limit nor for the request', async (t) => {
  const { ids, token, orgAdmin } = await arrange(3);
  const strangers = await arrange(1);
  const two = await send(orgAdmin.token, [...ids.slice(0, 2), ...strangers.ids]);
  t.is(two.status, 200);
  const three = await send(orgAdmin.token, [...ids, ...strangers.ids]);
  t.is(three.status, 202);
  t.deepEqual(
    [three.body.deviceCount, three.body.failed.map(({ deviceId, code }) => [deviceId, code])],
    [3, [[strangers.ids[0] ?? '', 'NOT_FOUND']]],
  );
  t.is((await approve(token, three.body.approvalId)).status, 200);
});

test('one approval is for devices of one organization', async (t) => {
  const { ids, token, partnerId, orgId } = await arrange(3);
  const other = await organization(platform, partnerId);
  const foreign = await enroll(platform, other);
  const mixed = await send(token, [...ids, foreign.deviceId]);
  t.deepEqual([mixed.status, mixed.body.error.code], [409, 'ONE_ORGANIZATION_AT_A_TIME']);
  t.deepEqual(mixed.body.error.details, [{ orgId, devices: 3, limit: 2 }] as object[]);
  t.is((await send(token, [...ids.slice(0, 2), foreign.deviceId])).status, 200);
});

test('what an API key asks for is sent in its name, and its maker cannot approve it', async (t) => {
  const { ids, orgId, orgAdmin, token } = await arrange(3);
  const key = await apiKey(platform, { orgId, scopes: ['devices:execute'], createdBy: orgAdmin.id });
  const { status, body } = await platform.call<Pending>('POST', '/devices/bulk/commands', {
    apiKey: key,
    body: { deviceIds: ids, type: 'reboot' },
  });
  t.is(status, 202);
  t.is((await approve(orgAdmin.token, body.approvalId)).status, 403);
  t.is((await approve(token, body.approvalId)).status, 200);
  await platform.runJobs();
  t.like((await queued(orgId))[0], { source: 'api_key', created_by: null });
});

test('the setting takes whole numbers from 1 to 500, or null', async (t) => {
  const { orgId, token } = await arrange(0);
  for (const approvalAboveDevices of [0, 501, 1.5, 'many']) {
    const { status } = await platform.call('PATCH', `/orgs/organizations/${orgId}`, {
      token,
      body: { settings: { 'device-commands': { approvalAboveDevices } } },
    });
    t.is(status, 400, String(approvalAboveDevices));
  }
});
