/** The agent as it is delivered: built, signed, installed by the script, brought to another version, and back from a broken one. */
import { execFile, spawn } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import pg from 'pg';
import { call, createTestDatabase, freePort } from '#test';
import { bundle, makeExecutable } from '../../agent/build/executable.ts';
import { hostTarget, programName, type Target } from '../../agent/build/targets.ts';
import { signFolder, trustKeyOf } from '../../agent/signing/folder.ts';
import { launch, type Running, until } from './process.ts';

const run = promisify(execFile);
const AGENT = 'agent/src/main.ts';
const CRASHING = 'test/end-to-end/crashing-agent.ts';
const key = generateKeyPairSync('ed25519').privateKey;
const target = hostTarget() as Target;

/** Lays a signed release out where the server looks for it. */
async function release(folder: string, version: string, entry: string, components: ('agent' | 'watchdog')[]) {
  const place = join(folder, 'releases', version);
  await mkdir(place, { recursive: true });
  const code = await bundle(entry, version);
  const agent = join(place, programName('agent', target));
  await makeExecutable({ target, code, version, file: agent, cache: join(folder, 'cache') });
  // The same program, as in a real release.
  if (components.includes('watchdog')) await link(agent, join(place, programName('watchdog', target)));
  await signFolder(place, { version, keyId: 'release', key });
}

const sha256 = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
/** Kilobytes of physical memory that a process holds. */
async function residentKb(pid: number): Promise<number> {
  return Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout);
}

/** Starts the watchdog again whenever it asks for that, as a service manager would. */
function supervise(program: string, args: string[]) {
  let text = '';
  let starts = 0;
  let stopping = false;
  let child = begin();
  let done: (code: number | null) => void = () => undefined;
  const ended = new Promise<number | null>((resolve) => {
    done = resolve;
  });
  function begin() {
    starts += 1;
    const started = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (text += chunk));
    started.once('exit', (code) => {
      if (code === 75 && !stopping) child = begin();
      else done(code);
    });
    return started;
  }
  return {
    starts: () => starts,
    output: () => text,
    stop() {
      stopping = true;
      child.kill('SIGTERM');
      return ended;
    },
  };
}

test('installed by the script it is updated from A to B, and a C that does not start makes way for B again', async (t) => {
  t.timeout(600_000);
  const database = await createTestDatabase({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-update-'));
  const port = await freePort();
  const server = `http://127.0.0.1:${port}`;
  const env = {
    ...{ DATABASE_URL: database.url, DATABASE_POOL_SIZE: '5', DATA_DIR: folder, HOST: '127.0.0.1', PORT: String(port) },
    ...{ PUBLIC_URL: server, ENABLE_2FA: 'false', LOG_LEVEL: 'warn' },
    ...{ JWT_SECRET: 'j'.repeat(40), APP_ENCRYPTION_KEY: 'e'.repeat(40) },
    ...{ BOOTSTRAP_ADMIN_EMAIL: 'root@example.com', BOOTSTRAP_ADMIN_PASSWORD: 'correct horse battery' },
    ...{ BINARY_SOURCE: 'local', AGENT_BINARY_DIR: join(folder, 'releases') },
    AGENT_TRUST_KEYS: trustKeyOf('release', key),
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
  };
  const sql = new pg.Pool({ connectionString: database.url, max: 2 });
  sql.on('connect', (client) => client.on('error', () => undefined));
  let platform: Running | undefined;
  let agent: ReturnType<typeof supervise> | undefined;
  try {
    await release(folder, '1.0.0', AGENT, ['agent', 'watchdog']);
    platform = await launch('app/quartermaster.ts', ['start'], env, /is ready/);
    const password = 'correct horse battery';
    const login = async (email: string) =>
      (await call<{ tokens: { accessToken: string } }>(server, 'POST', '/auth/login', { body: { email, password } }))
        .body.tokens.accessToken;
    await call(server, 'POST', '/auth/register-partner', {
      body: { companyName: 'Acme MSP', name: 'Ada', email: 'ada@example.com', password, acceptTerms: true },
    });
    const token = await login('ada@example.com');
    const send = async <B>(path: string, body: object) => (await call<B>(server, 'POST', path, { token, body })).body;
    const org = await send<{ id: string }>('/orgs/organizations', { name: 'Bakery', slug: 'bakery' });
    const site = await send<{ id: string }>('/orgs/sites', { orgId: org.id, name: 'Main' });
    const key1 = await send<{ key: string }>('/enrollment-keys', { orgId: org.id, siteId: site.id, name: 'First' });
    const sync = async (version: string) => {
      const admin = await login('root@example.com');
      return call<{ synced: string[] }>(server, 'POST', `/agent-versions/sync-remote?version=${version}`, {
        token: admin,
      });
    };
    const first = await sync('1.0.0');
    t.is(first.status, 200, JSON.stringify(first.body));

    // Installed by the script that the server hands out.
    const root = join(folder, 'root');
    const script = join(folder, 'install.sh');
    await writeFile(script, await (await fetch(`${server}/api/v1/agents/install.sh`)).text());
    const installEnv = { PATH: process.env.PATH ?? '', PREFIX: root, AGENT_TOKEN: key1.key };
    await run('/bin/sh', [script, '--device-role', 'server'], { env: installEnv });
    const place = join(root, 'usr/local/lib/quartermaster-agent');
    const state = join(root, 'var/lib/quartermaster-agent/state.json');
    const { deviceId } = JSON.parse(await readFile(state, 'utf8'));
    const device = async () => {
      const found = await call<{ data: { agentVersion: string; status: string; watchdogVersion: string | null } }>(
        server,
        'GET',
        `/devices/${deviceId}`,
        { token },
      );
      return found.body.data;
    };
    const attempts = async (component: string) => {
      const found = await sql.query<{ to_version: string; state: string; reason: string | null }>(
        'select to_version, state, reason from agent_update_attempts where device_id = $1 and component = $2 order by started_at',
        [deviceId, component],
      );
      return found.rows;
    };
    const pulse = async () => JSON.parse(await readFile(state.replace('.json', '-pulse.json'), 'utf8'));

    // No service manager in this root: the watchdog keeps the agent, and the test keeps the watchdog.
    agent = supervise(join(place, 'watchdog'), [
      ...['watchdog', '--program', join(place, 'agent'), '--supervised', '--state', state, '--interval', '2'],
    ]);
    await until(
      'version A is seen',
      async () => {
        const seen = await device();
        return seen.status === 'online' && seen.agentVersion === '1.0.0' && seen.watchdogVersion === '1.0.0';
      },
      120,
    );

    await release(folder, '1.1.0', AGENT, ['agent', 'watchdog']);
    t.is((await sync('1.1.0')).status, 200);
    await until('version B runs', async () => (await device()).agentVersion === '1.1.0', 180);
    await until('its attempt has ended', async () => (await attempts('agent'))[0]?.state === 'succeeded', 60);
    t.deepEqual(await attempts('agent'), [{ to_version: '1.1.0', state: 'succeeded', reason: null }]);
    await until('the watchdog follows', async () => (await device()).watchdogVersion === '1.1.0', 180);
    t.is(agent.starts(), 2, 'the watchdog made way for its new version');
    const settled = async () => (await readdir(join(place))).sort().join() === 'agent,watchdog';
    await until('the programs before are gone', settled, 120);

    // Idle, and connected by its socket.
    const { pid } = await pulse();
    const resident = await residentKb(pid);
    t.log(`resident memory of the idle agent: ${(resident / 1024).toFixed(1)} MiB`);
    t.true(resident < 80 * 1024, `${resident} KiB`);

    await release(folder, '1.2.0', CRASHING, ['agent']);
    const before = await sha256(join(place, 'agent'));
    t.is((await sync('1.2.0')).status, 200);
    const broken = async () => (await attempts('agent')).find(({ to_version }) => to_version === '1.2.0');
    await until('version C is taken back', async () => (await broken())?.state === 'rolled_back', 180);
    const back = await until(
      'B runs again',
      async () => {
        const mark = await pulse();
        return mark.version === '1.1.0' && mark.pid !== pid && mark.heardAt && mark;
      },
      120,
    );
    t.is(await sha256(join(place, 'agent')), before);
    t.is((await broken())?.reason, 'start_failed');
    // Beats go on, and the version is not offered again.
    const beats = async () => {
      const [row] = (await sql.query('select last_seen_at from device_state where device_id = $1', [deviceId])).rows;
      return row.last_seen_at as Date;
    };
    const since = await beats();
    await until('further beats', async () => (await beats()).getTime() > since.getTime() + 5000, 120);
    t.is((await attempts('agent')).filter(({ to_version }) => to_version === '1.2.0').length, 1);
    t.is((await pulse()).pid, back.pid);

    t.is(await agent.stop(), 0, agent.output());
    agent = undefined;
    await t.throwsAsync(async () => process.kill(back.pid, 0), undefined, 'the watchdog took its agent along');
    const leave = join(folder, 'uninstall.sh');
    await writeFile(leave, await (await fetch(`${server}/api/v1/agents/uninstall.sh`)).text());
    await run('/bin/sh', [leave], { env: { PATH: process.env.PATH ?? '', PREFIX: root } });
    await t.throwsAsync(readdir(place));
  } catch (error) {
    t.log(agent?.output() ?? '');
    t.log(platform?.output() ?? '');
    throw error;
  } finally {
    await agent?.stop();
    await platform?.kill();
    await sql.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
