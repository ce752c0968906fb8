/** Merging two rows of one machine. */
import test from 'ava';
import { type ErrorBody, organization, startTestPlatform, tenant } from '#test';
import { enroll, eventsOf, heartbeat, refusalOf } from './arrange.ts';

interface Detail {
  data: Record<string, unknown>;
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const old = await enroll(platform, place, {
    hostname: 'pc',
    hardware: { serialNumber: 'S', motherboardSerial: 'B' },
  });
  await heartbeat(platform, old, { metrics: { cpuPercent: 50 }, agentVersion: '0.9' });
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [old.deviceId]);
  const fresh = await enroll(platform, place, {
    hostname: 'pc-new',
    hardware: { serialNumber: 'S', motherboardSerial: 'B' },
  });
  return { ...place, from: old.deviceId, into: fresh.deviceId, fresh, token: place.partner.token };
}
const merge = (token: string, id: string, intoDeviceId: string) =>
  platform.call<Detail & ErrorBody>('POST', `/devices/${id}/merge`, { token, body: { intoDeviceId } });
const count = async (table: string, id: string) =>
  (await platform.sql(`select 1 from ${table} where device_id = $1`, [id])).length;

test('the history and what users have set move, the other row is decommissioned, and the hint is removed', async (t) => {
  const { from, into, token, orgId } = await arrange();
  const hint = await platform.call<Detail>('GET', `/devices/${into}`, { token });
  t.is(hint.body.data.possibleReplacementOfDeviceId, from);
  await platform.call('POST', '/custom-fields', { token, body: { orgId, name: 'A', fieldKey: 'a', type: 'text' } });
  await platform.call('POST', '/custom-fields', { token, body: { orgId, name: 'B', fieldKey: 'b', type: 'text' } });
  const patch = (id: string, body: object) => platform.call('PATCH', `/devices/${id}`, { token, body });
  await patch(from, {
    displayName: 'Desk',
    tags: ['old', 'both'],
    deviceRole: 'server',
    customFields: { a: '1', b: '1' },
  });
  await patch(into, { tags: ['both', 'new'], customFields: { a: '2' } });
  const made = await platform.call<{ data: { id: string } }>('POST', `/devices/${from}/commands`, {
    token,
    body: { type: 'lock' },
  });
  const merged = await merge(token, from, into);
  t.is(merged.status, 200);
  t.like(merged.body.data, {
    id: into,
    hostname: 'pc-new',
    displayName: 'Desk',
    tags: ['both', 'new', 'old'],
    deviceRole: 'server',
    deviceRoleSource: 'manual',
    customFields: { a: '2', b: '1' },
    possibleReplacementOfDeviceId: null,
  });
  const left = await platform.call<Detail>('GET', `/devices/${from}`, { token });
  t.like(left.body.data, { status: 'decommissioned', mergedIntoDeviceId: into, uninstallRequestedAt: null });
  await platform.runJobs();
  await platform.runJobs();
  for (const table of ['device_commands', 'device_metrics', 'device_changes']) {
    t.is(await count(table, from), 0, table);
    t.true((await count(table, into)) > 0, table);
  }
  const commands = await platform.call<{ data: { id: string; status: string }[] }>('GET', `/devices/${into}/commands`, {
    token,
  });
  t.deepEqual(
    commands.body.data.map(({ id, status }) => [id, status]),
    [[made.body.data.id, 'cancelled']],
  );
  const [audit] = await platform.audits({ action: 'device.merge', orgId });
  t.deepEqual([audit?.resource_id, audit?.details.mergedDeviceId], [into, from]);
  t.true((await eventsOf(platform, into)).includes('devices.merged'));
  t.deepEqual(
    await platform.audits({ action: 'device.delete', orgId }).then((all) => all.map(({ details }) => details.mode)),
    ['merge'],
  );
});

test('where both have metrics of one time, those of the remaining device are kept', async (t) => {
  const { from, into, token, orgId } = await arrange();
  await platform.sql('delete from device_metrics where device_id = any($1)', [[from, into]]);
  await platform.sql(
    `insert into device_metrics (device_id, ts, org_id, cpu_percent)
     select d, date_trunc('hour', now()), $3, p from (values ($1::uuid, 1), ($2::uuid, 2)) v (d, p)`,
    [from, into, orgId],
  );
  await merge(token, from, into);
  await platform.runJobs();
  const rows = await platform.sql('select device_id, cpu_percent from device_metrics where device_id = any($1)', [
    [from, into],
  ]);
  t.deepEqual(rows, [{ device_id: into, cpu_percent: 2 }]);
});

test('an invalid merge is an error and changes nothing', async (t) => {
  const { from, into, token, viewer, siteId, orgId, partnerId, fresh } = await arrange();
  const other = await tenant(platform);
  const sister = await organization(platform, partnerId);
  const away = await enroll(platform, sister);
  const mac = await enroll(platform, { orgId, siteId }, { osType: 'macos' });
  const code = async (as: string, id: string, to: string) => refusalOf(await merge(as, id, to));
  t.deepEqual(await code(token, from, from), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, from, away.deviceId), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, from, mac.deviceId), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, from, siteId), [404, 'NOT_FOUND']);
  t.deepEqual(await code(other.partner.token, from, into), [404, 'NOT_FOUND']);
  t.deepEqual(await code(viewer.token, from, into), [403, 'FORBIDDEN']);
  t.deepEqual(await code(token, into, from), [409, 'DEVICE_ONLINE']);
  t.is(fresh.deviceId, into);
  await platform.call('DELETE', `/devices/${into}`, { token });
  t.deepEqual(await code(token, from, into), [409, 'INVALID_STATE']);
  await platform.call('POST', `/devices/${into}/restore`, { token });
  await platform.call('DELETE', `/devices/${from}`, { token });
  t.deepEqual(await code(token, from, into), [409, 'INVALID_STATE']);
  t.deepEqual(
    await platform.audits({ action: 'device.merge', orgId }).then((all) => all.filter((a) => a.result === 'success')),
    [],
  );
});
