/** The live tools of the reference agent, asked for by a technician through a whole platform. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { enrollmentKey, sharedPlatform, tenant } from '#test';

const PROGRAM = join(import.meta.dirname, '../src/main.ts');
const platform = await sharedPlatform();
const folder = await mkdtemp(join(tmpdir(), 'agent-tools-'));
const state = join(folder, 'state.json');
const output: string[] = [];
const start = (...args: string[]): ChildProcess => {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--state', state], { cwd: folder });
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  return child;
};
const at = await tenant(platform);
await once(start('enroll', '--server', platform.url, '--key', await enrollmentKey(platform, at)), 'close');
const { deviceId } = JSON.parse(await readFile(state, 'utf8'));
const agent = start('run');
test.after.always(async () => {
  agent.kill('SIGTERM');
  await once(agent, 'close');
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

const base = `/system-tools/devices/${deviceId}`;
// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
type Answer = any;
const ask = (method: string, path: string, body?: unknown) =>
  platform.call<Answer>(method, base + path, { token: at.orgAdmin.token, ...(body === undefined ? {} : { body }) });

test.before(async () => {
  // Until the agent is connected the answer is 503.
  while ((await ask('GET', '/files?path=')).status === 503) await new Promise((resolve) => setTimeout(resolve, 100));
});

test.serial('the processes of the machine are listed, and one of them is ended', async (t) => {
  const starter = spawn('sh', ['-c', 'sleep 302 >/dev/null 2>&1 & echo $!'], { detached: true });
  const [line] = (await once(starter.stdout, 'data')) as [Buffer];
  const pid = Number(String(line));
  const begin = performance.now();
  const list = await ask('GET', '/processes?search=sleep%20302&sort=memory');
  t.log(`listed in ${Math.round(performance.now() - begin)} ms`);
  t.is(list.status, 200, JSON.stringify(list.body));
  const found = list.body.data.find((item: Answer) => item.pid === pid);
  t.like(found, { name: 'sleep', status: 'sleeping' });
  const one = await ask('GET', `/processes/${pid}`);
  t.is(one.body.data.startTime, found.startTime);
  const other = { force: true, expectedStartTime: '2020-01-01T00:00:00.000Z' };
  t.is((await ask('POST', `/processes/${pid}/kill`, other)).status, 409);
  t.is((await ask('POST', '/processes/1/kill', {})).status, 403);
  const killed = await ask('POST', `/processes/${pid}/kill`, { expectedStartTime: found.startTime });
  t.deepEqual([killed.status, killed.body], [200, { success: true, pid }]);
  const after = await ask('GET', `/processes/${pid}`);
  // Ended, and at most its parent has not asked how.
  t.true(after.status === 404 || after.body.data.status === 'zombie', JSON.stringify(after.body));
});

test.serial('services, event logs, tasks and the registry answer as this machine can', async (t) => {
  t.is((await ask('GET', '/services/no-such-service')).status, 404);
  const logs = await ask('GET', '/eventlogs');
  t.is(logs.status, 200, JSON.stringify(logs.body));
  t.is((await ask('GET', '/eventlogs/no-such-log/events')).status, 404);
  const tasks = await ask('GET', '/tasks?limit=500');
  t.is(tasks.status, 200, JSON.stringify(tasks.body));
  for (const { path } of tasks.body.data.slice(0, 1)) {
    const one = await ask('GET', `/tasks/${encodeURIComponent(path)}`);
    t.is(one.body.data.path, path, JSON.stringify(one.body));
  }
  t.is((await ask('GET', '/registry/keys?hive=HKLM')).status, 400);
});

test.serial('files go up and come down whole, and the agent’s own do not', async (t) => {
  const content = randomBytes(1_000_000);
  const path = join(folder, 'deep/er/file.bin');
  const body = { path, content: content.toString('base64'), encoding: 'base64', createParents: true };
  const begin = performance.now();
  const up = await ask('POST', '/files/upload', body);
  t.log(`1 MB up in ${Math.round(performance.now() - begin)} ms`);
  const sha256 = createHash('sha256').update(content).digest('hex');
  t.deepEqual([up.status, up.body], [200, { success: true, path, size: content.length, sha256 }]);
  t.true((await readFile(path)).equals(content));
  t.is((await ask('POST', '/files/upload', body)).status, 409);

  const large = randomBytes(20 * 1024 * 1024);
  await writeFile(path, large);
  const middle = performance.now();
  const down = await fetch(`${platform.url}/api/v1${base}/files/download?path=${encodeURIComponent(path)}`, {
    headers: { authorization: `Bearer ${at.orgAdmin.token}` },
  });
  t.is(down.status, 200);
  t.true(Buffer.from(await down.arrayBuffer()).equals(large));
  t.log(`20 MiB down in ${Math.round(performance.now() - middle)} ms`);

  const list = await ask('GET', `/files?path=${encodeURIComponent(join(folder, 'deep/er'))}`);
  t.like(list.body.data?.entries?.[0] ?? list.body.entries?.[0], { name: 'file.bin', size: large.length });
  t.is((await ask('GET', `/files/download?path=${encodeURIComponent(state)}`)).status, 403);
  t.is((await ask('GET', `/files/download?path=${encodeURIComponent(join(folder, 'nothing'))}`)).status, 404);
});
