/** A technician works on a machine through the API alone: the reference agent's tools behind a whole platform. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { enrollmentKey, startTestPlatform, tenant } from '#test';
import { HANDLERS } from '../../agent/src/commands/handlers.ts';
import { toolHandlers } from '../../agent/src/commands/tools.ts';
import { createClient } from '../../agent/src/link/client.ts';
import { enroll } from '../../agent/src/link/enrollment.ts';
import { socketOpener } from '../../agent/src/link/socket.ts';
import { createTransfers } from '../../agent/src/link/transfer.ts';
import { runAgent } from '../../agent/src/loop.ts';
import { realMachine } from '../../agent/src/machine.ts';
import { diskJournal } from '../../agent/src/store/journal.ts';
import { fileState } from '../../agent/src/store/state.ts';
import { DEFAULT_TIMING } from '../../agent/src/timing.ts';
import { askLinux } from '../../agent/src/tools/linux/ask.ts';
import { linuxTools } from '../../agent/src/tools/linux/tools.ts';

const LARGE_BYTES = 200_000_000;
const platform = await startTestPlatform();
const place = await tenant(platform);
const folder = await mkdtemp(join(tmpdir(), 'live-tools-'));
/** Services and logs are those below another root: this machine's own are left alone. */
const root = join(folder, 'root');
const ended = new AbortController();
let agent: Promise<unknown> = Promise.resolve();
let deviceId = '';

test.before(async () => {
  await mkdir(join(root, 'etc/init.d'), { recursive: true });
  await mkdir(join(root, 'var/log'), { recursive: true });
  const call = createClient(platform.url, DEFAULT_TIMING.request);
  const key = await enrollmentKey(platform, place);
  const store = fileState(join(folder, 'state.json'));
  const state = await enroll(call, realMachine(), { server: platform.url, key });
  await store.write(state);
  deviceId = state.deviceId;
  agent = runAgent({
    call,
    transfers: createTransfers(platform.url),
    openSocket: socketOpener(platform.url),
    store,
    journalStore: diskJournal(join(folder, 'state-commands')),
    machine: realMachine(),
    handlers: new Map([...HANDLERS, ...toolHandlers(linuxTools([join(folder, 'state')], askLinux, root))]),
    timing: DEFAULT_TIMING,
    signal: ended.signal,
    log: () => undefined,
    allowPower: false,
  });
  while ((await ask('GET', '/processes?limit=1')).status === 503) await new Promise((go) => setTimeout(go, 50));
});
test.after.always(async () => {
  ended.abort();
  await agent;
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  data: Record<string, unknown>[] & Record<string, unknown>;
  pid: number;
  status: string;
  entries: { name: string; size: number | null }[];
  error: { code: string };
}
const ask = (method: string, path: string, body?: object) =>
  platform.call<Answer>(method, `/system-tools/devices/${deviceId}${path}`, {
    token: place.orgAdmin.token,
    ...(body ? { body } : {}),
  });

/** What has ended but whom nobody has asked about yet (a zombie) does not run. */
async function runs(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /\) [^ZX]/.test(text);
}

test.serial('a process is found by name and ended, and another one that took its number would not be', async (t) => {
  // Of nobody's family: the agent, which is this process here, leaves its own alone.
  const { stdout } = await promisify(execFile)('sh', ['-c', 'setsid sleep 4711 > /dev/null 2>&1 & echo $!']);
  const pid = Number(stdout);
  t.teardown(async () => (await runs(pid)) && process.kill(pid, 'SIGKILL'));
  const { body } = await ask('GET', '/processes?search=4711&sort=pid');
  const found = body.data.find((one) => one.pid === pid);
  t.like(found, { name: 'sleep', commandLine: 'sleep 4711' });
  const path = `/processes/${pid}/kill`;
  const other = await ask('POST', path, { expectedStartTime: '2020-01-01T00:00:00.000Z' });
  t.is(other.status, 409);
  t.true(await runs(pid));
  t.is((await ask('POST', path, { expectedStartTime: found?.startTime })).status, 200);
  t.false(await runs(pid));
  t.is((await ask('POST', '/processes/1/kill', {})).body.error.code, 'DEVICE_DENIED');
  const [entry] = await platform.audits({ action: 'device.kill_process', orgId: place.orgId });
  t.is((entry?.details as { pid?: number } | undefined)?.pid, pid);
});

test.serial('a service is started, is seen running, and is stopped', async (t) => {
  const mark = join(folder, 'runs');
  const script = join(root, 'etc/init.d/bakery');
  await writeFile(
    script,
    `#!/bin/sh
### BEGIN INIT INFO
# Provides: bakery
# Short-Description: Bakes
### END INIT INFO
case "$1" in
  start) touch ${mark} ;;
  stop) rm -f ${mark} ;;
  status) test -e ${mark} || exit 3 ;;
esac
`,
  );
  await chmod(script, 0o755);
  const state = async () => (await ask('GET', '/services/bakery')).body.data.status;
  t.is(await state(), 'stopped');
  t.like((await ask('POST', '/services/bakery/start')).body, { success: true, status: 'running' });
  t.is(await state(), 'running');
  t.true((await stat(mark)).isFile());
  t.like((await ask('POST', '/services/bakery/stop')).body, { success: true, status: 'stopped' });
  t.is(await state(), 'stopped');
  t.is((await ask('POST', '/services/butcher/start')).status, 404);
});

test.serial('the log of the system is read page by page, and filtered on the machine', async (t) => {
  const lines = Array.from(
    { length: 30 },
    (_, n) => `Nov 20 10:00:${String(n).padStart(2, '0')} host oven[7]: loaf ${n}`,
  );
  await writeFile(join(root, 'var/log/syslog'), `${lines.join('\n')}\nNov 20 10:01:00 host cron[9]: tick\n`);
  const logs = await ask('GET', '/eventlogs');
  const name = logs.body.data.find((one) => /sys/i.test(String(one.name)))?.name;
  t.truthy(name);
  const page = await ask('GET', `/eventlogs/${name}/events?source=oven&limit=10`);
  t.is(page.body.data.length, 10);
  t.true(page.body.data.every(({ source, message }) => source === 'oven' && /^loaf \d+$/.test(String(message))));
});

test.serial('files of 200 MB are written and read, the same byte for byte', async (t) => {
  t.timeout(600_000);
  const block = randomBytes(1_000_000);
  const sent = createHash('sha256');
  function* content() {
    for (let left = LARGE_BYTES; left > 0; left -= block.length) {
      block.writeUInt32LE(left, 0);
      sent.update(block);
      yield Buffer.from(block);
    }
  }
  const target = join(folder, 'large.bin');
  const base = `${platform.url}/api/v1/system-tools/devices/${deviceId}/files`;
  const headers = { authorization: `Bearer ${place.orgAdmin.token}` };
  const upload = request(`${base}/upload?path=${encodeURIComponent(target)}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
  });
  const answered = new Promise<string>((resolve, reject) => {
    upload.once('error', reject);
    upload.once('response', async (response) => resolve(Buffer.concat(await response.toArray()).toString()));
  });
  await pipeline(Readable.from(content()), upload);
  const digest = sent.digest('hex');
  t.like(JSON.parse(await answered), { success: true, size: LARGE_BYTES, sha256: digest });

  const copy = join(folder, 'copy.bin');
  await new Promise<void>((resolve, reject) => {
    request(`${base}/download?path=${encodeURIComponent(target)}`, { headers }, (response) => {
      t.is(response.statusCode, 200);
      t.is(response.headers['content-length'], String(LARGE_BYTES));
      t.regex(String(response.headers['content-disposition']), /^attachment/);
      pipeline(response, createWriteStream(copy)).then(resolve, reject);
    })
      .once('error', reject)
      .end();
  });
  const read = createHash('sha256');
  for await (const chunk of createReadStream(copy)) read.update(chunk as Buffer);
  t.is(read.digest('hex'), digest);
});

test.serial('a folder is listed, a file is not overwritten unasked, and the agent keeps its secrets', async (t) => {
  const path = join(folder, 'notes.txt');
  t.is((await ask('POST', '/files/upload', { path, content: 'bread', encoding: 'text' })).status, 200);
  t.is((await ask('POST', '/files/upload', { path, content: 'cake', encoding: 'text' })).status, 409);
  t.is((await ask('POST', '/files/upload', { path, content: 'cake', encoding: 'text', overwrite: true })).status, 200);
  t.is(await readFile(path, 'utf8'), 'cake');
  const { body } = await ask('GET', `/files?path=${encodeURIComponent(folder)}`);
  t.like(
    body.entries.find(({ name }) => name === 'notes.txt'),
    { size: 4, type: 'file' },
  );
  const own = await ask('GET', `/files/download?path=${encodeURIComponent(join(folder, 'state.json'))}`);
  t.deepEqual([own.status, own.body.error.code], [403, 'DEVICE_DENIED']);
  t.is((await ask('GET', '/files/download?path=/etc/shadow')).status, 403);
});
