/** Commands from the request to the result. */
import test from 'ava';
import type { Causation } from '#core';
import { apiKey, type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';
import { asAgent, enroll, heartbeat, runJob } from '../../devices/test/arrange.ts';
import type { CommandResult } from '../services/results.ts';

interface One {
  data: {
    id: string;
    status: string;
    type: string;
    deliverBy: string;
    stdout?: string;
    late: boolean;
    causation: Causation;
  };
}
type EnrolledDevice = { deviceId: string; orgId: string };

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const device = await enroll(platform, place);
  return { ...place, device, token: place.partner.token, path: `/devices/${device.deviceId}/commands` };
}
const send = (token: string, path: string, body: object) => platform.call<One>('POST', path, { token, body });
const refusal = async (token: string, path: string, body: object = {}) => {
  const { status, body: answer } = await platform.call<ErrorBody>('POST', path, { token, body });
  return [status, answer.error.code];
};
const claim = (device: EnrolledDevice, role: 'agent' | 'watchdog' = 'agent') =>
  asAgent(platform, device, (ctx) => ctx.use('device-commands').claimCommands(device.deviceId, role));
const finish = (device: EnrolledDevice, id: string, result: CommandResult, role: 'agent' | 'watchdog' = 'agent') =>
  asAgent(platform, device, (ctx) => ctx.use('device-commands').finishCommand(device.deviceId, id, role, result));
const start = (device: EnrolledDevice, id: string) =>
  asAgent(platform, device, (ctx) => ctx.use('device-commands').startCommand(device.deviceId, id));
const rowOf = async (id: string) => (await platform.sql('select * from device_commands where id = $1', [id]))[0] ?? {};

test('retention goes on until all old commands are deleted', async (t) => {
  const { device } = await arrange();
  await platform.sql(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, payload, status, source, deliver_by,
       execution_timeout_seconds, created_at)
     select $1, $2, $2, 'lock', '{}', 'completed', 'user', now(), 300, now() - interval '91 days' from generate_series(1, 20500)`,
    [device.deviceId, device.orgId],
  );
  await runJob(platform, 'device-commands/prune-commands');
  const left = async () =>
    (await platform.sql('select 1 from device_commands where device_id = $1', [device.deviceId])).length;
  t.is(await left(), 10_500);
  await platform.runJobs();
  t.is(await left(), 0);
});

test('a command is queued, delivered with a heartbeat, started, finished and audited, and its result can be read', async (t) => {
  const { device, token, path, orgId } = await arrange();
  const made = await send(token, path, { type: 'reboot', payload: { delayMinutes: 5 } });
  t.is(made.status, 201);
  t.like(made.body.data, { type: 'reboot', status: 'pending' });
  const { commands } = await heartbeat(platform, device);
  const [command] = commands;
  t.like(command, { type: 'reboot', payload: { delayMinutes: 5 }, attempt: 1, executionTimeoutSeconds: 1800 });
  const id = command?.id ?? '';
  t.deepEqual((await heartbeat(platform, device)).commands, []);
  await start(device, id);
  await start(device, id);
  const done = { status: 'completed' as const, exitCode: 0, stdout: 'bye\0', durationMs: 12.4, result: { a: 1 } };
  t.deepEqual(await finish(device, id, done), { known: true, changed: true, given: true });
  const read = await platform.call<One>('GET', `${path}/${id}`, { token });
  t.like(read.body.data, {
    status: 'completed',
    exitCode: 0,
    stdout: 'bye',
    stderr: null,
    durationMs: 12,
    late: false,
  });
  t.false('payload' in read.body.data);
  t.deepEqual((await rowOf(id)).payload, {});
  const list = await platform.call<{ data: object[] }>('GET', `${path}?status=completed`, { token });
  t.is(list.body.data.length, 1);
  const actions = (await platform.audits({ orgId })).map(({ action }) => action);
  t.deepEqual(actions, ['device.create', 'device.command.queue', 'agent.command.result.submit']);
  const told = await platform.sql(
    `select data, correlation_id, depth from events where name = 'device-commands.finished' and device_id = $1`,
    [device.deviceId],
  );
  t.like(made.body.data.causation, { causationId: null, depth: 0, by: [] });
  t.like(told[0], { correlation_id: made.body.data.causation.correlationId, depth: 0 }, 'it follows from the request');
  t.like(told[0]?.data, { commandId: id, status: 'completed', source: 'user' });
});

test('the first result counts, repeats change nothing, and an unknown command is reported as unknown', async (t) => {
  const { device, token, path, orgId } = await arrange();
  const { id } = (await send(token, path, { type: 'lock' })).body.data;
  await claim(device);
  const results = await Promise.all(
    Array.from({ length: 6 }, (_, n) => finish(device, id, { status: n % 2 ? 'failed' : 'completed', exitCode: n })),
  );
  t.is(results.filter(({ changed }) => changed).length, 1);
  t.true(results.every(({ known }) => known));
  t.deepEqual(await finish(device, orgId, { status: 'failed' }), { known: false, changed: false, given: false });
  t.is((await platform.audits({ action: 'agent.command.result.submit', orgId })).length, 1);
  await t.throwsAsync(() => start(device, id), { message: /current state/ });
  await t.throwsAsync(() => start(device, orgId), { message: 'Command not found' });
});

test('twenty concurrent requests receive each command exactly once, by priority and age', async (t) => {
  const { device, orgId } = await arrange();
  await platform.sql(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, priority, deliver_by,
       execution_timeout_seconds, source, created_at)
     select $1, $2, $2, 'script', n % 2, now() + interval '1 day', 300, 'system', now() + n * interval '1 second'
     from generate_series(1, 120) n`,
    [device.deviceId, orgId],
  );
  const first = await claim(device);
  t.true(first.every(({ priority }) => priority === 1));
  const rest = await Promise.all(Array.from({ length: 20 }, () => claim(device)));
  t.true(rest.every((list) => list.length <= 10));
  let ids = [...first, ...rest.flat()].map(({ id }) => id);
  // Requests that met locked rows received fewer commands; the next request receives the rest.
  for (let more = await claim(device); more.length > 0; more = await claim(device))
    ids = [...ids, ...more.map(({ id }) => id)];
  t.is(ids.length, 120);
  t.is(new Set(ids).size, 120);
});

test('commands of another organization, past their deadline, or for another role are not given out', async (t) => {
  const { device, token, path } = await arrange();
  const other = await tenant(platform);
  const late = (await send(token, path, { type: 'lock' })).body.data.id;
  const foreign = (await send(token, path, { type: 'cancel_reboot' })).body.data.id;
  await send(token, path, { type: 'restart_agent' });
  await platform.sql(`update device_commands set deliver_by = now() where id = $1`, [late]);
  await platform.sql(`update device_commands set submitted_org_id = $2 where id = $1`, [foreign, other.orgId]);
  t.deepEqual(await claim(device), []);
  t.is((await claim(device, 'watchdog'))[0]?.type, 'restart_agent');
  const [sent] = await platform.sql<{ id: string }>(
    `select id from device_commands where status = 'sent' and device_id = $1`,
    [device.deviceId],
  );
  await t.throwsAsync(() => finish(device, sent?.id ?? '', { status: 'completed' }), { message: /another role/ });
});

test('the sweep expires, times out and redelivers, and a late result replaces an assumed timeout once', async (t) => {
  const { device, token, path } = await arrange();
  const order = async (type: string) => (await send(token, path, { type })).body.data.id;
  const [slow, lost, begun] = [await order('lock'), await order('cancel_reboot'), await order('refresh_inventory')];
  await claim(device);
  const old = await order('reboot');
  await start(device, begun);
  await platform.sql(`update device_commands set deliver_by = now() where id = $1`, [old]);
  await platform.sql(`update device_commands set sent_at = now() - interval '7 minutes' where id = $1`, [slow]);
  await platform.sql(`update device_commands set sent_at = now() - interval '3 minutes' where id = any($1::uuid[])`, [
    [lost, begun],
  ]);
  await runJob(platform, 'device-commands/sweep-commands');
  const status = async (id: string) => (await rowOf(id)).status;
  t.deepEqual(
    [await status(old), await status(slow), await status(lost), await status(begun)],
    ['expired', 'timeout', 'pending', 'running'],
  );
  t.like((await claim(device))[0], { id: lost, attempt: 2 });
  t.deepEqual(await finish(device, slow, { status: 'completed' }), { known: true, changed: true, given: true });
  t.like(await rowOf(slow), { status: 'completed', late: true });
  t.deepEqual(await finish(device, slow, { status: 'failed' }), { known: true, changed: false, given: true });
  t.deepEqual(await finish(device, old, { status: 'completed' }), { known: true, changed: false, given: true });
});

test('a second refresh_inventory is an error with the id of the first, also when both are concurrent', async (t) => {
  const { token, path } = await arrange();
  const both = await Promise.all(
    [1, 2, 3].map(() => platform.call<ErrorBody & One>('POST', path, { token, body: { type: 'refresh_inventory' } })),
  );
  const made = both.filter(({ status }) => status === 201);
  t.is(made.length, 1);
  for (const { body } of both.filter(({ status }) => status === 409)) {
    t.is(body.error.code, 'ALREADY_PENDING');
    t.deepEqual(body.error.details, [{ commandId: made[0]?.body.data.id }] as never);
  }
  await send(token, `${path}/${made[0]?.body.data.id}/cancel`, {});
  t.is((await send(token, path, { type: 'refresh_inventory' })).status, 201);
});

test('only commands that no agent has fetched can be cancelled at once', async (t) => {
  const { device, token, path } = await arrange();
  const { id } = (await send(token, path, { type: 'lock' })).body.data;
  t.is((await send(token, `${path}/${id}/cancel`, {})).body.data.status, 'cancelled');
  t.deepEqual(await claim(device), []);
  t.deepEqual(await refusal(token, `${path}/${id}/cancel`), [409, 'INVALID_STATE']);
});

test('invalid commands are errors with their reason, and queue nothing', async (t) => {
  const { device, token, path, viewer, orgId } = await arrange();
  t.deepEqual(await refusal(token, path, { type: 'script' }), [400, 'USE_DEDICATED_ENDPOINT']);
  t.deepEqual(await refusal(token, path, { type: 'constructor' }), [400, 'VALIDATION_ERROR']);
  const bad = await platform.call<ErrorBody>('POST', path, {
    token,
    body: { type: 'schedule_reboot', payload: { minutes: 0, x: 1 } },
  });
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), ['payload.minutes', 'payload.x']);
  t.deepEqual(await refusal(viewer.token, path, { type: 'lock' }), [403, 'FORBIDDEN']);
  const other = await tenant(platform);
  t.deepEqual(await refusal(other.partner.token, path, { type: 'lock' }), [404, 'NOT_FOUND']);
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [device.deviceId]);
  t.deepEqual(await refusal(token, path, { type: 'lock', whenOffline: 'fail' }), [409, 'DEVICE_OFFLINE']);
  await platform.sql(`update devices set lifecycle = 'quarantined' where id = $1`, [device.deviceId]);
  t.deepEqual(await refusal(token, path, { type: 'lock' }), [409, 'INVALID_STATE']);
  t.is((await platform.sql('select 1 from device_commands where device_id = $1', [device.deviceId])).length, 0);
  const denied = await platform.audits({ action: 'device.command.queue', orgId });
  t.deepEqual(
    denied.map(({ result }) => result),
    ['denied'],
  );
});

test('a script runs through its own endpoint, and the audit trail keeps its hash, not its text', async (t) => {
  const { device, token, orgId } = await arrange();
  const made = await send(token, `/devices/${device.deviceId}/run-script`, { language: 'bash', content: 'echo 1' });
  t.is(made.status, 201);
  const [command] = await claim(device);
  t.like(command, {
    type: 'script',
    executionTimeoutSeconds: 600,
    payload: { content: 'echo 1', timeoutSeconds: 300 },
  });
  await finish(device, command?.id ?? '', { status: 'failed', exitCode: 3_221_225_477, stdout: 'x'.repeat(2_000_000) });
  t.is((await rowOf(command?.id ?? '')).exit_code, 3_221_225_477);
  const read = await platform.call<One>('GET', `/devices/${device.deviceId}/commands/${command?.id}`, { token });
  t.true((read.body.data.stdout ?? '').includes('…[truncated 951424 bytes]'));
  const [audit] = await platform.audits({ action: 'script.execute', orgId });
  t.like(audit?.details, { language: 'bash', commandId: command?.id });
  t.false(JSON.stringify(audit).includes('echo 1'));
});

test('a shutdown requires the second factor, or an API key with exactly this permission', async (t) => {
  const strict = await startTestPlatform();
  t.teardown(() => strict.stop());
  const place = await tenant(strict);
  const device = await enroll(strict, place);
  const path = `/devices/${device.deviceId}/commands`;
  const weak = await orgUser(strict, { orgId: place.orgId, mfa: false });
  const codeFor = async (body: object, options: object) =>
    (await strict.call<ErrorBody>('POST', path, { ...options, body })).status;
  t.is(await codeFor({ type: 'shutdown' }, { token: weak.token }), 403);
  t.is(await codeFor({ type: 'lock' }, { token: weak.token }), 201);
  t.is(await codeFor({ type: 'shutdown' }, { token: place.orgAdmin.token }), 201);
  const createdBy = weak.id;
  const broad = await apiKey(strict, { orgId: place.orgId, scopes: ['*'], createdBy });
  const exact = await apiKey(strict, { orgId: place.orgId, scopes: ['devices:execute'], createdBy });
  t.is(await codeFor({ type: 'shutdown' }, { apiKey: broad }), 403);
  t.is(await codeFor({ type: 'shutdown' }, { apiKey: exact }), 201);
});
