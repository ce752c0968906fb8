/** The outcomes of calls: devices that cannot be reached, limits, errors and timeouts. */
import { request } from 'node:http';
import test from 'ava';
import { type FakeCommand, joinTestPlatform, startTestPlatform, until } from '#test';
import { COMMAND_WAITS } from '../../../agents/agents/services/command-waits.ts';
import { answers, bench, forgetCounts } from './arrange.ts';

const env = { REMOTE_TOOL_WAIT_SECONDS: '1' };
const platform = await startTestPlatform(env);
const other = await joinTestPlatform(platform, env);
const here = await bench(platform, answers, { url: other.url });
const linux = await bench(platform, answers, { osType: 'linux', at: here });
test.after.always(async () => {
  for (const { live } of [here, linux]) await live.close();
  for (const one of [other, platform]) await one.stop();
});
test.beforeEach(async () => {
  here.live.script = answers;
  await forgetCounts(platform, here);
});

const commands = async () =>
  (
    await platform.sql<{ n: number }>('select count(*)::int as n from device_commands where device_id = $1', [
      here.agent.deviceId,
    ])
  )[0]?.n ?? 0;

test.serial('each error of the agent has its own answer', async (t) => {
  const rows: [string | undefined, string, number, string][] = [
    ['NOT_FOUND', '/services/x', 404, 'NOT_FOUND'],
    ['DENIED', '/services/x', 403, 'DEVICE_DENIED'],
    ['PROTECTED', '/processes/1', 403, 'DEVICE_DENIED'],
    ['PROTECTED', '/services/x', 409, 'DEVICE_CONFLICT'],
    ['CONFLICT', '/services/x', 409, 'DEVICE_CONFLICT'],
    ['INVALID', '/services/x', 400, 'VALIDATION_ERROR'],
    ['UNSUPPORTED_OS', '/services/x', 400, 'UNSUPPORTED_OS'],
    ['UNSUPPORTED', '/services/x', 400, 'UNSUPPORTED_OS'],
    ['FILE_LOCKED', '/files', 409, 'FILE_LOCKED'],
    ['TOO_LARGE', '/files', 413, 'PAYLOAD_TOO_LARGE'],
    ['TIMEOUT', '/files', 504, 'DEVICE_TIMEOUT'],
    ['SOMETHING', '/files', 502, 'DEVICE_ERROR'],
    [undefined, '/files', 502, 'DEVICE_ERROR'],
  ];
  for (const [code, path, status, shown] of rows) {
    here.live.script = () => ({ status: 'failed', error: `Because of ${code}`, result: code ? { code } : null });
    const answer = await here.ask('GET', path);
    t.is(answer.status, status, `${code}`);
    t.like(answer.body.error, { code: shown, message: `Because of ${code}` });
  }
  here.live.script = () => ({ status: 'timeout', error: 'Too slow', result: { code: 'TIMEOUT' } });
  t.is((await here.ask('GET', '/files')).status, 504);
});

test.serial('an invalid or too large answer is an error of the device', async (t) => {
  for (const result of [
    undefined,
    null,
    'text',
    [],
    { items: 5 },
    { items: [], total: -1 },
    { items: [{ name: 1 }], total: 1 },
  ]) {
    here.live.script = () => ({ result });
    const { status, body } = await here.ask('GET', '/services');
    t.is(status, 502, JSON.stringify(result));
    t.is(body.error.code, 'DEVICE_BAD_RESPONSE');
  }
  const large = { name: 'A', type: 'REG_SZ', data: 'x'.repeat(1_900_000), truncated: false };
  here.live.script = () => ({ result: { ...large, news: 'from a newer agent' } });
  const most = await here.ask('GET', '/registry/value?hive=HKLM&name=A');
  t.deepEqual(most.body, { data: large });
  here.live.script = () => ({ result: { ...large, data: 'x'.repeat(2_100_000) } });
  t.is((await here.ask('GET', '/registry/value?hive=HKLM&name=A')).body.error.code, 'DEVICE_BAD_RESPONSE');
});

test.serial(
  'without an answer in time a read has timed out, and a change is unverified until its command ends',
  async (t) => {
    here.live.script = () => undefined;
    const look = await here.ask('GET', '/files');
    t.is(look.status, 504);
    t.deepEqual(look.body.error.details, []);
    const change = await here.ask('POST', '/services/late/stop');
    const [command] = here.live.seen.slice(-1);
    t.is(change.status, 504);
    t.deepEqual(change.body.error.details, [{ outcome: 'unverified', commandId: command?.id }]);
    const entries = (await platform.audits({ action: 'device.stop_service' })).filter(
      ({ details }) => details.commandId === command?.id,
    );
    t.deepEqual(
      entries.map(({ result }) => result),
      ['success', 'failure'],
      'ordered, and then nobody knows',
    );
    here.live.say(command?.id ?? '', { result: { name: 'late', status: 'stopped' } });
    const path = `/devices/${here.agent.deviceId}/commands/${command?.id}`;
    await until(
      async () =>
        (await platform.call<{ data: { status: string } }>('GET', path, here.orgAdmin)).body.data.status ===
        'completed',
    );
  },
);

test.serial('a device that cannot be reached gets no command, and there is no audit entry', async (t) => {
  const before = await commands();
  const away = await bench(platform, answers, { at: here });
  await away.live.close();
  // Until its process has noticed, a command would still be queued.
  await until(async () => {
    const rows = await platform.sql('select from agent_connections where device_id = $1 and node_id is not null', [
      away.agent.deviceId,
    ]);
    return rows.length === 0;
  });
  t.is((await away.ask('GET', '/files')).status, 503);
  t.like((await away.ask('POST', '/services/x/stop')).body.error, { code: 'DEVICE_UNREACHABLE' });
  await platform.sql(`update devices set lifecycle = 'quarantined' where id = $1`, [here.agent.deviceId]);
  const { status, body } = await here.ask('GET', '/files');
  t.is(status, 409);
  t.like(body.error, { code: 'INVALID_STATE', details: [{ current: 'quarantined', allowed: ['active'] }] });
  await platform.sql(`update devices set lifecycle = 'active' where id = $1`, [here.agent.deviceId]);
  t.is(await commands(), before);
  const [stored] = await platform.sql('select count(*)::int as n from device_commands where device_id = $1', [
    away.agent.deviceId,
  ]);
  t.deepEqual(stored, { n: 0 });
});

test.serial('the registry exists on Windows only, and keys that the system needs cannot be removed', async (t) => {
  for (const path of ['/registry/keys?hive=HKLM', '/registry/value?hive=HKLM&name=x']) {
    const { status, body } = await linux.ask('GET', path);
    t.is(status, 400);
    t.is(body.error.code, 'UNSUPPORTED_OS');
  }
  const before = await commands();
  for (const path of ['', '%5C', 'SYSTEM', 'software', '%5CSam%5C', 'SECURITY']) {
    const { status, body } = await here.ask('DELETE', `/registry/key?hive=HKLM&path=${path}&recursive=true`);
    t.is(status, 403, path);
    t.is(body.error.code, 'DEVICE_DENIED');
  }
  const wrong: [object, string][] = [
    [{ type: 'REG_DWORD', data: 'x' }, 'data'],
    [{ type: 'REG_DWORD', data: 4_294_967_296 }, 'data'],
    [{ type: 'REG_QWORD', data: 5 }, 'data'],
    [{ type: 'REG_QWORD', data: '18446744073709551616' }, 'data'],
    [{ type: 'REG_MULTI_SZ', data: 'x' }, 'data'],
    [{ type: 'REG_SZ', data: ['x'] }, 'data'],
    [{ type: 'REG_BINARY', data: 'no base64!' }, 'data'],
    [{ type: 'REG_BINARY', data: [256] }, 'data'],
    [{ type: 'REG_NONE', data: 'x' }, 'type'],
    [{ path: 'A\\..\\B' }, 'path'],
    [{ hive: 'HKEY_NOWHERE' }, 'hive'],
  ];
  for (const [change, place] of wrong) {
    const body = { hive: 'HKLM', path: 'A', name: 'x', type: 'REG_SZ', data: 'x', ...change };
    const answer = await here.ask('PUT', '/registry/value', body);
    t.is(answer.status, 400, JSON.stringify(change));
    t.is(answer.body.error.details[0].path, place);
  }
  t.is((await here.ask('DELETE', '/registry/value?hive=HKLM&path=A')).body.error.details[0].path, 'name');
  t.is(await commands(), before);
});

test.serial('a device has at most four concurrent calls, a caller sixty per minute', async (t) => {
  const held: FakeCommand[] = [];
  here.live.script = (command) => {
    held.push(command);
    return undefined;
  };
  const five = await Promise.all([1, 2, 3, 4, 5].map(() => here.ask('GET', '/files')));
  t.deepEqual(five.map(({ status }) => status).sort(), [429, 504, 504, 504, 504]);
  t.is(five.find(({ status }) => status === 429)?.body.error.code, 'DEVICE_BUSY');
  t.is(held.length, 4);
  here.live.script = answers;
  await until(async () => (await here.ask('GET', '/files')).status === 200);
  const statuses: number[] = [];
  for (let n = 0; n < 61; n += 1) statuses.push((await here.ask('GET', '/files')).status);
  t.is(statuses.at(-1), 429);
  const limited = await here.ask('GET', '/files');
  t.is(limited.body.error.code, 'RATE_LIMITED');
  t.truthy(limited.headers.get('retry-after'));
});

test.serial('a repeated key gets the first outcome, even if the first request was aborted', async (t) => {
  const again = () =>
    platform.call<{ error?: { code: string } }>('POST', `${here.path}/services/once/restart`, {
      token: here.orgAdmin.token,
      headers: { 'idempotency-key': 'k-1' },
    });
  const seen = () => here.live.seen.filter(({ payload }) => payload.name === 'once');
  here.live.script = () => undefined;
  t.is((await again()).status, 504);
  const [command] = seen();
  here.live.say(command?.id ?? '', { result: { name: 'once', status: 'running' } });
  await until(async () => (await again()).status === 200);
  t.deepEqual((await again()).body, { success: true, name: 'once', status: 'running' });
  t.is(seen().length, 1, 'ordered once');
  const other = await platform.call<{ error: { code: string } }>('POST', `${here.path}/services/another/restart`, {
    token: here.orgAdmin.token,
    headers: { 'idempotency-key': 'k-1' },
  });
  t.is(other.body.error.code, 'IDEMPOTENCY_MISMATCH');
  await platform.sql(`update tool_calls set created_at = now() - interval '61 minutes' where command_id = $1`, [
    command?.id,
  ]);
  await platform.sql(`select graphile_worker.add_job('system-tools/erase-results', '{}')`);
  await platform.runJobs();
  t.is((await again()).body.error?.code, 'RESULT_ERASED');
  const [kept] = await platform.sql('select status from device_commands where id = $1', [command?.id]);
  t.deepEqual(kept, { status: 'completed' }, 'the command itself stays');
});

test.serial('other modules may not queue these commands, and an aborted request stops waiting', async (t) => {
  const sent = await platform.call<{ error: { code: string } }>('POST', `/devices/${here.agent.deviceId}/commands`, {
    token: here.orgAdmin.token,
    body: { type: 'kill_process', payload: { pid: 1 } },
  });
  t.is(sent.body.error.code, 'USE_DEDICATED_ENDPOINT');
  const waits = platform.platform.tasks.work.services.get(COMMAND_WAITS);
  here.live.seen.length = 0;
  here.live.script = () => undefined;
  const asked = request(`${platform.url}/api/v1${here.path}/services/gone/stop`, {
    method: 'POST',
    headers: { authorization: `Bearer ${here.orgAdmin.token}` },
  });
  asked.on('error', () => undefined).end();
  const command = await here.live.next('stop_service');
  await until(async () => waits.size === 1);
  asked.destroy();
  await until(async () => waits.size === 0);
  await until(async () => {
    const [row] = await platform.sql('select status from device_commands where id = $1', [command.id]);
    return row?.status === 'running';
  });
  t.pass('the command goes on');
});
