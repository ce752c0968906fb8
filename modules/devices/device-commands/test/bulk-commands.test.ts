/** One command for many devices. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, orgUser, startTestPlatform, tenant, until } from '#test';
import { enroll, heartbeat, refusalOf } from '../../devices/test/arrange.ts';
import type { CommandGuard } from '../slots/guard.ts';

interface Answer {
  batchId: string;
  commands: { deviceId: string; hostname: string; commandId: string; status: string }[];
  skipped: { deviceId: string; code: string; commandId?: string }[];
  failed: { deviceId: string; hostname: string | null; code: string; message: string }[];
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const send = (token: string, deviceIds: string[], body: object) =>
  platform.call<Answer & ErrorBody>('POST', '/devices/bulk/commands', { token, body: { deviceIds, ...body } });
async function arrange(count: number) {
  const place = await tenant(platform);
  const devices = await Promise.all(
    Array.from({ length: count }, (_, n) => enroll(platform, place, { hostname: `h${n}` })),
  );
  return { ...place, devices, ids: devices.map(({ deviceId }) => deviceId), token: place.partner.token };
}
const codes = (rows: { deviceId: string; code: string }[], ids: string[]) =>
  Object.fromEntries(rows.map(({ deviceId, code }) => [ids.indexOf(deviceId), code]));

test('power commands are refused before they are queued, by setting and by agent', async (t) => {
  const { ids, token, orgId, devices } = await arrange(2);
  const [first = '', second = ''] = ids;
  const one = (id: string, type: string) =>
    platform.call<ErrorBody>('POST', `/devices/${id}/commands`, { token, body: { type } });
  await heartbeat(platform, devices[1] as (typeof devices)[0], { powerCommands: false });
  const shown = await platform.call<{ data: { powerCommands: boolean | null } }>('GET', `/devices/${second}`, {
    token,
  });
  t.is(shown.body.data.powerCommands, false);
  t.is((await one(first, 'lock')).status, 201);
  const refused = await one(second, 'lock');
  t.deepEqual(refusalOf(refused), [409, 'POWER_COMMANDS_OFF']);
  t.deepEqual(refused.body.error.details, [{ by: 'agent' }] as object[]);
  t.is((await one(second, 'refresh_inventory')).status, 201);
  const many = await send(token, ids, { type: 'schedule_reboot', payload: { minutes: 5 } });
  t.deepEqual(codes(many.body.skipped, ids), { 1: 'POWER_COMMANDS_OFF' });
  t.is(many.body.commands.length, 1);
  const settings = { 'device-commands': { powerCommands: false } };
  await platform.sql('update organizations set settings = settings || $2 where id = $1', [orgId, settings]);
  const bySetting = await one(first, 'reboot');
  t.deepEqual(bySetting.body.error.details, [{ by: 'setting' }] as object[]);
  t.is((await one(first, 'cancel_reboot')).status, 201, 'a scheduled restart can still be cancelled');
  const queued = await platform.sql('select type from device_commands where org_id = $1 order by type', [orgId]);
  t.deepEqual(
    queued.map(({ type }) => type),
    ['cancel_reboot', 'lock', 'refresh_inventory', 'schedule_reboot'],
  );
});

test('commands of a module are refused where it is off, and their payload is checked', async (t) => {
  const { ids, token, orgId, partnerId } = await arrange(1);
  const [id = ''] = ids;
  const one = (body: object) => platform.call<ErrorBody>('POST', `/devices/${id}/commands`, { token, body });
  const level = { type: 'set_log_level', payload: { level: 'debug', durationMinutes: 0 } };
  t.is((await one(level)).status, 201);
  for (const payload of [{}, { level: 'loud' }, { level: 'info', durationMinutes: 10_081 }])
    t.deepEqual(refusalOf(await one({ type: 'set_log_level', payload })), [400, 'VALIDATION_ERROR']);
  for (const key of ['device-logs', 'agent-versions'])
    await platform.sql('insert into tenant_modules (partner_id, org_id, key, enabled) values ($1, $2, $3, false)', [
      ...[partnerId, orgId, key],
    ]);
  await until(async () => (await one(level)).status === 409);
  const refused = await one(level);
  t.deepEqual(refusalOf(refused), [409, 'COMMAND_DISABLED']);
  t.like(refused.body.error.details[0], { module: 'device-logs' });
  t.deepEqual(refusalOf(await one({ type: 'update_agent' })), [409, 'COMMAND_DISABLED']);
  const many = await send(token, ids, level);
  t.deepEqual(codes(many.body.skipped, ids), { 0: 'COMMAND_DISABLED' });
});

test('each device receives its command, or is listed with the reason why it does not', async (t) => {
  const { ids, token, orgId, devices } = await arrange(7);
  const other = await arrange(1);
  const all = [...ids, ...other.ids, randomUUID()];
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [ids[1]]);
  const first = await platform.call<{ data: { id: string } }>('POST', `/devices/${ids[2]}/commands`, {
    token,
    body: { type: 'refresh_inventory' },
  });
  await platform.call('DELETE', `/devices/${ids[3]}`, { token });
  await platform.call('POST', `/devices/${ids[4]}/quarantine`, { token, body: { reason: 'x' } });
  const { status, body } = await send(token, all, { type: 'refresh_inventory', whenOffline: 'fail' });
  t.is(status, 200);
  t.deepEqual(
    body.commands.map(({ deviceId, hostname, status: state }) => [deviceId, hostname, state]),
    [
      [ids[0], 'h0', 'pending'],
      [ids[5], 'h5', 'pending'],
      [ids[6], 'h6', 'pending'],
    ],
  );
  t.deepEqual(codes(body.skipped, all), { 1: 'DEVICE_OFFLINE', 2: 'ALREADY_PENDING' });
  t.is(body.skipped.find(({ code }) => code === 'ALREADY_PENDING')?.commandId, first.body.data.id);
  t.deepEqual(codes(body.failed, all), { 3: 'DECOMMISSIONED', 4: 'INVALID_STATE', 7: 'NOT_FOUND', 8: 'NOT_FOUND' });
  t.is(body.failed.find(({ deviceId }) => deviceId === other.ids[0])?.hostname, null);
  const rows = await platform.sql('select id from device_commands where batch_id = $1', [body.batchId]);
  t.is(rows.length, 3);
  const audits = (await platform.audits({ action: 'device.command.queue', orgId })).filter(
    ({ details }) => details.batchId === body.batchId,
  );
  t.deepEqual(audits.map(({ resource_id }) => resource_id).sort(), [ids[0], ids[5], ids[6]].sort());
  const answer = await heartbeat(platform, devices[0] as (typeof devices)[0]);
  t.deepEqual(
    answer.commands.map(({ id }) => id),
    [body.commands[0]?.commandId],
  );
});

test('422 when no command is queued or skipped; 200 when all are skipped', async (t) => {
  const { ids, token } = await arrange(2);
  const stranger = await tenant(platform);
  const refused = await send(stranger.partner.token, ids, { type: 'lock' });
  t.deepEqual(refusalOf(refused), [422, 'NO_ELIGIBLE_TARGETS']);
  t.is(refused.body.error.details.length, 2);
  await send(token, ids, { type: 'refresh_inventory' });
  const again = await send(token, ids, { type: 'refresh_inventory' });
  t.deepEqual([again.status, again.body.commands.length, again.body.skipped.length], [200, 0, 2]);
  t.is((await platform.sql('select 1 from device_commands where device_id = any($1)', [ids])).length, 2);
});

test('bulk commands respect the reach and the permissions of the caller', async (t) => {
  const { ids, token, viewer, orgId, orgAdmin } = await arrange(3);
  const [site] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Two') returning id`,
    [orgId],
  );
  await platform.call('PATCH', `/devices/${ids[0]}`, { token, body: { siteId: site?.id } });
  const bySite = await orgUser(platform, { orgId, siteIds: [site?.id ?? ''] });
  const limited = await send(bySite.token, ids, { type: 'lock' });
  t.deepEqual(
    limited.body.commands.map(({ deviceId }) => deviceId),
    [ids[0]],
  );
  t.deepEqual(codes(limited.body.failed, ids), { 1: 'SITE_ACCESS_DENIED', 2: 'SITE_ACCESS_DENIED' });
  const group = await platform.call<{ data: { id: string } }>('POST', '/groups', {
    token: orgAdmin.token,
    body: { name: 'G', type: 'static', deviceIds: [ids[1]] },
  });
  const byGroup = await orgUser(platform, { orgId, deviceGroupIds: [group.body.data.id] });
  const grouped = await send(byGroup.token, ids, { type: 'lock' });
  t.deepEqual(
    grouped.body.commands.map(({ deviceId }) => deviceId),
    [ids[1]],
  );
  t.deepEqual(codes(grouped.body.failed, ids), { 0: 'NOT_FOUND', 2: 'NOT_FOUND' });
  t.deepEqual(refusalOf(await send(viewer.token, ids, { type: 'lock' })), [403, 'FORBIDDEN']);
  t.deepEqual(refusalOf(await send(token, ids, { type: 'script' })), [400, 'USE_DEDICATED_ENDPOINT']);
  t.deepEqual(refusalOf(await send(token, ids, { type: 'reboot', payload: { x: 1 } })), [400, 'VALIDATION_ERROR']);
  t.deepEqual(refusalOf(await send(token, [], { type: 'lock' })), [400, 'VALIDATION_ERROR']);
  t.deepEqual(refusalOf(await send(token, [...ids, ...ids], { type: 'lock' })), [400, 'VALIDATION_ERROR']);
  const many = Array.from({ length: 501 }, () => randomUUID());
  t.deepEqual(refusalOf(await send(token, many, { type: 'lock' })), [400, 'VALIDATION_ERROR']);
});

test('concurrent bulk and single changes of automatic updates do not deadlock', async (t) => {
  const { ids, token } = await arrange(6);
  const body = { type: 'set_auto_update', payload: { enabled: false } };
  const answers = await Promise.all([
    ...[1, 2, 3].map(() => send(token, ids.toReversed(), body)),
    ...ids.map((id) => platform.call('POST', `/devices/${id}/commands`, { token, body })),
  ]);
  t.true(
    answers.every(({ status }) => status < 300 || status === 409),
    answers.map(({ status }) => status).join(),
  );
  const rows = await platform.sql('select 1 from devices where id = any($1) and not auto_update_enabled', [ids]);
  t.is(rows.length, 6);
  const open = await platform.sql(`select 1 from device_commands where device_id = any($1)`, [ids]);
  t.is(open.length, 6);
});

test('a command that a guard blocks is skipped in bulk and is an error for one device', async (t) => {
  const { ids, token } = await arrange(2);
  const guard: CommandGuard = {
    blocked: async (_ctx, deviceIds, type) => (type === 'reboot' ? deviceIds.filter((id) => id === ids[0]) : []),
  };
  const { work } = platform.platform.tasks;
  const contributions = work.contributions;
  work.contributions = (slot) => (slot === 'device-commands.guard' ? [guard] : contributions.call(work, slot));
  t.teardown(() => {
    work.contributions = contributions;
  });
  const { body } = await send(token, ids, { type: 'reboot' });
  t.deepEqual(codes(body.skipped, ids), { 0: 'MAINTENANCE' });
  t.deepEqual(
    body.commands.map(({ deviceId }) => deviceId),
    [ids[1]],
  );
  const alone = await platform.call('POST', `/devices/${ids[0]}/commands`, { token, body: { type: 'reboot' } });
  t.deepEqual(refusalOf(alone), [409, 'BLOCKED_BY_MAINTENANCE']);
  t.is((await platform.call('POST', `/devices/${ids[0]}/commands`, { token, body: { type: 'lock' } })).status, 201);
});
