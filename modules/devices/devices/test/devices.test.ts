/** One device: detail, changes, updates, decommission and restore. */
import test from 'ava';
import { type ErrorBody, orgUser, partnerUser, startTestPlatform, tenant } from '#test';
import { asAgent, enroll, heartbeat, runJob } from './arrange.ts';

interface Detail {
  data: Record<string, unknown> & { recentMetrics: { cpuPercent: number }[]; status: string };
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const rowOf = async (id: string) => (await platform.sql('select * from devices where id = $1', [id]))[0] ?? {};

async function arrange() {
  const place = await tenant(platform);
  const device = await enroll(platform, place, { hostname: 'box', hardware: { serialNumber: 'S' } });
  return { ...place, device, id: device.deviceId, token: place.partner.token, path: `/devices/${device.deviceId}` };
}

test('the detail shows inventory, names and the last day of metrics in buckets', async (t) => {
  const { device, path, token, orgId } = await arrange();
  const at = new Date(Math.floor(Date.now() / 300_000) * 300_000 - 300_000);
  for (const cpuPercent of [10, 30])
    await heartbeat(platform, device, { at: new Date(at.getTime() + cpuPercent), metrics: { cpuPercent } });
  await platform.sql(
    `insert into device_metrics (device_id, ts, org_id, cpu_percent)
     select $1, ts, $2, 50 from generate_series(10, 1600) n, lateral (select now() - n * interval '1 minute' as ts) x
     -- Days before yesterday have no partition.
     where ts >= date_trunc('day', now(), 'utc') - interval '1 day' on conflict do nothing`,
    [device.deviceId, orgId],
  );
  const { body } = await platform.call<Detail>('GET', path, { token });
  t.like(body.data, {
    hostname: 'box',
    siteName: 'Main',
    siteTimezone: 'UTC',
    lifecycle: 'active',
    status: 'online',
    autoUpdate: { enabled: true, confirmedAt: null },
    hardware: { serialNumber: 'S', biosVersion: null },
    networkInterfaces: [],
    disks: [],
    pendingCommands: 0,
  });
  t.true(body.data.recentMetrics.length >= 285 && body.data.recentMetrics.length <= 288);
  t.false(JSON.stringify(body).toLowerCase().includes('token'));
});

test('names, tags, role and site are changed and audited, and the agent does not overwrite a role set by a user', async (t) => {
  const { path, token, id, orgId, siteId } = await arrange();
  const [site] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Two') returning id`,
    [orgId],
  );
  const body = { displayName: 'Desk', tags: ['a', 'b'], deviceRole: 'server', siteId: site?.id };
  const changed = await platform.call<Detail>('PATCH', path, { token, body });
  t.like(changed.body.data, { displayName: 'Desk', tags: ['a', 'b'], deviceRoleSource: 'manual', siteName: 'Two' });
  const [audit] = await platform.audits({ action: 'device.update', orgId });
  const details = {
    changedFields: Object.keys(body),
    before: { displayName: null, tags: [], deviceRole: 'unknown', siteId },
    after: body,
  };
  t.deepEqual([audit?.resource_id, audit?.details], [id, details]);
});

test('invalid changes are errors and change nothing', async (t) => {
  const { path, token, id, viewer, orgId, siteId } = await arrange();
  const other = await tenant(platform);
  const before = await rowOf(id);
  const patch = async (as: string, body: object) => {
    const answer = await platform.call<ErrorBody>('PATCH', path, { token: as, body });
    return [answer.status, answer.body.error.code];
  };
  t.deepEqual(await patch(token, {}), [400, 'NO_UPDATES']);
  t.deepEqual(await patch(token, { hostname: 'x' }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await patch(token, { siteId: other.siteId }), [404, 'NOT_FOUND']);
  t.deepEqual(await patch(viewer.token, { displayName: 'x' }), [403, 'FORBIDDEN']);
  t.deepEqual(await patch(other.partner.token, { displayName: 'x' }), [404, 'NOT_FOUND']);
  const [site] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Two') returning id`,
    [orgId],
  );
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  t.deepEqual(await patch(limited.token, { siteId: site?.id }), [403, 'SITE_ACCESS_DENIED']);
  t.deepEqual(await rowOf(id), before);
});

test('a site with devices cannot be deleted', async (t) => {
  const { token, siteId } = await arrange();
  const refused = await platform.call<ErrorBody>('DELETE', `/orgs/sites/${siteId}`, { token });
  t.deepEqual([refused.status, refused.body.error.code], [409, 'IN_USE']);
});

test('the setting of automatic updates is stored, sent once, and confirmed by the agent', async (t) => {
  const { device, path, token, id } = await arrange();
  const set = (enabled: boolean) => platform.call<object>('POST', `${path}/auto-update`, { token, body: { enabled } });
  t.deepEqual((await set(false)).body, { deviceId: id, enabled: false, confirmed: false });
  await set(true);
  await set(false);
  const answer = await heartbeat(platform, device, { autoUpdateEnabled: true });
  t.false(answer.autoUpdateEnabled);
  t.deepEqual(
    answer.commands.map(({ type, payload }) => [type, payload]),
    [['set_auto_update', { enabled: false }]],
  );
  t.is((await rowOf(id)).auto_update_confirmed_at, null);
  await heartbeat(platform, device, { autoUpdateEnabled: false });
  t.truthy((await rowOf(id)).auto_update_confirmed_at);
  t.deepEqual((await set(false)).body, { deviceId: id, enabled: false, confirmed: true });
});

test('a decommissioned device receives only the uninstall command, and a heartbeat does not revive it', async (t) => {
  const { device, path, token, id, orgId } = await arrange();
  await platform.call('POST', `${path}/commands`, { token, body: { type: 'lock' } });
  const results = await Promise.all(
    [1, 2, 3].map(() => platform.call<{ uninstallCommandId?: string }>('DELETE', path, { token })),
  );
  t.deepEqual(results.map(({ status }) => status).sort(), [200, 409, 409]);
  const order = results.find(({ status }) => status === 200)?.body.uninstallCommandId;
  const answer = await heartbeat(platform, device);
  t.like(answer, { lifecycle: 'decommissioned', uninstall: true });
  t.deepEqual(
    answer.commands.map((command) => command.id),
    [order],
  );
  t.is((await platform.call<Detail>('GET', path, { token })).body.data.status, 'decommissioned');
  const finished = await asAgent(platform, device, (ctx) =>
    ctx.use('device-commands').finishCommand(id, order ?? '', 'agent', { status: 'completed' }),
  );
  t.true(finished.changed);
  t.truthy((await rowOf(id)).uninstall_confirmed_at);
  const audits = await platform.audits({ action: 'device.delete', orgId });
  t.deepEqual(
    audits.map(({ details }) => details),
    [{ mode: 'decommission', uninstall: true, cancelledCommands: 1 }],
  );
});

test('an uninstall command that was given out before a restore is used again by the next decommission', async (t) => {
  const { device, path, token } = await arrange();
  const leave = () => platform.call<{ uninstallCommandId?: string }>('DELETE', path, { token });
  const first = await leave();
  t.is((await heartbeat(platform, device)).commands.length, 1);
  t.is((await platform.call('POST', `${path}/restore`, { token })).status, 200);
  t.deepEqual((await leave()).body, first.body);
  t.like(await heartbeat(platform, device), { lifecycle: 'decommissioned', uninstall: true, commands: [] });
});

test('decommissioning requires its permission and reach', async (t) => {
  const { path, viewer, partnerId, partnerRoleId, id } = await arrange();
  const other = await tenant(platform);
  const nowhere = await partnerUser(platform, { partnerId, roleId: partnerRoleId, orgAccess: 'none' });
  t.is((await platform.call('DELETE', path, { token: viewer.token })).status, 403);
  t.is((await platform.call('DELETE', path, { token: other.partner.token })).status, 404);
  t.is((await platform.call('DELETE', path, { token: nowhere.token })).status, 404);
  t.is((await platform.call('POST', `${path}/restore`, { token: other.partner.token })).status, 404);
  t.is((await rowOf(id)).lifecycle, 'active');
});

test('a device is restored within thirty days if the limits allow it, and its uninstall command is cancelled', async (t) => {
  const { device, path, token, id, orgId } = await arrange();
  const restore = () => platform.call<ErrorBody & Detail>('POST', `${path}/restore`, { token });
  t.is((await restore()).body.error.code, 'INVALID_STATE');
  await platform.call('DELETE', path, { token });
  await platform.sql('update organizations set max_devices = 0 where id = $1', [orgId]);
  t.is((await restore()).body.error.code, 'DEVICE_LIMIT_REACHED');
  await platform.sql('update organizations set max_devices = null where id = $1', [orgId]);
  t.like((await restore()).body.data, { lifecycle: 'active', status: 'offline', uninstallRequestedAt: null });
  t.deepEqual((await heartbeat(platform, device)).commands, []);
  await platform.call('DELETE', `${path}?uninstall=false`, { token });
  t.like(await heartbeat(platform, device), { uninstall: false, commands: [] });
  await platform.sql(`update devices set decommissioned_at = now() - interval '31 days' where id = $1`, [id]);
  t.is((await restore()).body.error.code, 'RESTORE_TOO_LATE');
  await runJob(platform, 'devices/purge-devices');
  await platform.runJobs();
  t.is((await platform.call('GET', path, { token })).status, 404);
  const last = (await platform.audits({ action: 'device.delete', orgId })).at(-1);
  t.deepEqual([last?.resource_id, last?.details], [id, { mode: 'purge' }]);
  t.deepEqual(await platform.sql('select 1 from device_state where device_id = $1', [id]), []);
});
