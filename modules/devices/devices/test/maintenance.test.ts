/** Maintenance mode of one device. */
import test from 'ava';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { enroll, eventsOf, heartbeat, refusalOf, runJob } from './arrange.ts';

interface Detail {
  data: { status: string; connectivity: string; maintenanceUntil: string | null; maintenanceReason: string | null };
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const device = await enroll(platform, place);
  return { ...place, device, id: device.deviceId, token: place.partner.token };
}
const start = (token: string, id: string, body: object) =>
  platform.call<Detail & ErrorBody>('POST', `/devices/${id}/maintenance`, { token, body });
const end = (token: string, id: string) =>
  platform.call<Detail & ErrorBody>('DELETE', `/devices/${id}/maintenance`, { token });

test('maintenance is shown instead of connectivity, heartbeats do not end it, and its end can be changed', async (t) => {
  const { device, id, token, orgId } = await arrange();
  const begun = await start(token, id, { minutes: 30, reason: 'new disk' });
  t.like(begun.body.data, { status: 'maintenance', connectivity: 'online', maintenanceReason: 'new disk' });
  await heartbeat(platform, device);
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const moved = await start(token, id, { until });
  t.like(moved.body.data, { status: 'maintenance', maintenanceUntil: until, maintenanceReason: null });
  t.like((await end(token, id)).body.data, { status: 'online', maintenanceUntil: null });
  t.deepEqual(refusalOf(await end(token, id)), [409, 'INVALID_STATE']);
  const actions = (await platform.audits({ orgId })).map(({ action }) => action);
  t.deepEqual(
    actions.filter((action) => action.startsWith('device.maintenance')),
    ['device.maintenance.start', 'device.maintenance.start', 'device.maintenance.end'],
  );
});

test.serial('maintenance ends by itself, with one event', async (t) => {
  const { id, token } = await arrange();
  await start(token, id, { minutes: 1 });
  await platform.sql(`update devices set maintenance_until = now() - interval '1 second' where id = $1`, [id]);
  const { body } = await platform.call<Detail>('GET', `/devices/${id}`, { token });
  t.is(body.data.status, 'online');
  await runJob(platform, 'devices/sweep-silent');
  await runJob(platform, 'devices/sweep-silent');
  const told = (await eventsOf(platform, id)).filter((name) => name.startsWith('devices.maintenance'));
  t.deepEqual(told.sort(), ['devices.maintenance.ended', 'devices.maintenance.started']);
});

test('maintenance requires an active device, an end within seven days, a permission and reach', async (t) => {
  const { id, token, viewer } = await arrange();
  const other = await tenant(platform);
  const code = async (as: string, body: object) => refusalOf(await start(as, id, body));
  const at = (ms: number) => ({ until: new Date(Date.now() + ms).toISOString() });
  t.deepEqual(await code(token, at(-1000)), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, at(7 * 86_400_000 + 60_000)), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, { minutes: 10_081 }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, { minutes: 5, ...at(60_000) }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(viewer.token, {}), [403, 'FORBIDDEN']);
  t.deepEqual(await code(other.partner.token, {}), [404, 'NOT_FOUND']);
  t.deepEqual(refusalOf(await end(other.partner.token, id)), [404, 'NOT_FOUND']);
  await platform.call('POST', `/devices/${id}/quarantine`, { token, body: { reason: 'x' } });
  t.deepEqual(await code(token, {}), [409, 'INVALID_STATE']);
});
