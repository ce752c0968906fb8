/** The reference agent, as people start it, against a whole platform. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { enrollmentKey, sharedPlatform, tenant, until } from '#test';

const PROGRAM = join(import.meta.dirname, '../src/main.ts');
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

interface Detail {
  data: {
    id: string;
    hostname: string;
    status: string;
    metrics: { cpuPercent: number | null; ramPercent: number | null } | null;
    networkInterfaces: unknown[];
  };
}

test('it enrolls, is seen with its load, runs a script it is sent, and comes back after a rotation', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'reference-agent-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const state = join(folder, 'state.json');
  const output: string[] = [];
  const start = (...args: string[]): ChildProcess => {
    const child = spawn(process.execPath, [PROGRAM, ...args, '--state', state], { cwd: folder });
    t.teardown(() => child.kill('SIGKILL'));
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    return child;
  };
  const at = await tenant(platform);
  const [code] = await once(
    start('enroll', '--server', platform.url, '--key', await enrollmentKey(platform, at)),
    'close',
  );
  t.is(code, 0, output.join(''));
  const readState = async () => JSON.parse(await readFile(state, 'utf8'));
  const { deviceId, tokens } = await readState();
  const agent = start('run', '--interval', '1');

  const device = await until(async () => {
    const { body } = await platform.call<Detail>('GET', `/devices/${deviceId}`, { token: at.orgAdmin.token });
    return body.data?.status === 'online' && (body.data.metrics?.ramPercent ?? 0) > 0 && body.data;
  });
  t.is(device.id, deviceId);
  t.true((device.metrics?.ramPercent ?? 0) > 0);

  const script = { language: 'sh', content: 'echo "the answer is $((6*7))"' };
  const [command] = await platform.sql<{ id: string }>(
    `insert into device_commands (device_id, org_id, submitted_org_id, type, payload, source, deliver_by,
       execution_timeout_seconds)
     values ($1, $2, $2, 'script', $3, 'user', now() + interval '1 hour', 300) returning id`,
    [deviceId, at.orgId, JSON.stringify(script)],
  );
  const done = await until(async () => {
    const [row] = await platform.sql<{ status: string; exit_code: number; stdout: string }>(
      `select c.status, c.exit_code, o.stdout from device_commands c
       left join device_command_output o on o.command_id = c.id where c.id = $1`,
      [command?.id],
    );
    return row && !['pending', 'sent', 'running'].includes(row.status) && row;
  });
  t.like(done, { status: 'completed', exit_code: 0, stdout: 'the answer is 42\n' });

  await until(async () => {
    const [row] = await platform.sql<{ n: number }>(
      'select count(*)::int as n from device_network_interfaces where device_id = $1',
      [deviceId],
    );
    return (row?.n ?? 0) > 0;
  });

  await platform.sql(`update agent_credentials set created_at = now() - interval '40 days' where device_id = $1`, [
    deviceId,
  ]);
  await platform.sql(`select pg_notify('quartermaster', json_build_array('agent', $1::text)::text)`, [deviceId]);
  const rotated = await until(async () => {
    const now = await readState();
    return now.tokens.authToken !== tokens.authToken && !now.pendingTokens && now;
  });
  await platform.sql(`delete from agent_credentials where state = 'previous' and device_id = $1`, [deviceId]);
  const beat = await platform.call('POST', `/agents/${rotated.agentId}/heartbeat`, {
    token: rotated.tokens.authToken,
    body: {},
  });
  t.is(beat.status, 200);

  agent.kill('SIGTERM');
  t.is((await once(agent, 'close'))[0], 0, output.join(''));
});
