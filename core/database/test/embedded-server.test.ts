/** The embedded PostgreSQL: first and later starts, crashes of either side, and faults told in one sentence. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import anyTest, { type TestFn } from 'ava';
import pg from 'pg';
import { DataFolderError } from '../../data-folder.ts';
import { findBinaries } from '../embedded/binaries.ts';
import { type EmbeddedServer, EmbeddedServerError, startEmbeddedServer } from '../embedded/server.ts';

const test = anyTest as TestFn<{ dir: string; servers: EmbeddedServer[]; children: ChildProcess[] }>;
const CHILD = fileURLToPath(new URL('./embedded-child.ts', import.meta.url));
const NOBODY = { uid: 65534, gid: 65534 };
const asRoot = process.getuid?.() === 0;

test.beforeEach(async (t) => {
  // Mode 0700, so as root every test also shows that the server's user need not reach the folder.
  t.context = { dir: await mkdtemp(join(tmpdir(), 'qm-embedded-')), servers: [], children: [] };
});

test.afterEach.always(async (t) => {
  for (const child of t.context.children) child.kill('SIGKILL');
  for (const server of t.context.servers) await server.stop();
  const pid = Number(
    (await readFile(join(t.context.dir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0],
  );
  if (pid > 0 && pid !== process.pid) await gone(pid);
  await rm(t.context.dir, { recursive: true, force: true });
});

type Context = { dir: string; servers: EmbeddedServer[]; children: ChildProcess[] };

async function start(context: Context, options: { dataDir?: string; port?: number } = {}): Promise<EmbeddedServer> {
  const quiet = { dataDir: context.dir, log: () => undefined, settings: { shared_buffers: '16MB' } };
  const server = await startEmbeddedServer({ ...quiet, ...options });
  context.servers.push(server);
  return server;
}

async function ask(url: string, query: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query({ text: query, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

/** Starts the other process; resolves with what it says. */
async function startChild(context: Context, dir: string, user: object = {}) {
  const env = { PATH: process.env.PATH };
  const child = spawn(process.execPath, [CHILD, dir], { ...user, cwd: '/', env, stdio: ['pipe', 'pipe', 'inherit'] });
  context.children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const said: { url: string; port: number; error?: string } = JSON.parse(String(line));
  return { child, ...said };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.signalCode === null) await once(child, 'exit');
}

async function postmaster(dir: string): Promise<number> {
  return Number((await readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** Waits until the process has ended. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (state === '' || / Z /.test(state)) return;
    await wait(10);
  }
}

test.serial('the first start makes a PostgreSQL 18 database that later starts find again', async (t) => {
  const first = await start(t.context);
  t.true(first.firstStart);
  t.regex(String(await ask(first.url, 'SHOW server_version')), /^18\./);
  t.is(await ask(first.url, 'SELECT current_database()'), 'quartermaster');
  t.is(await ask(first.url, "SELECT lower('ÄÉŠΩ')"), 'äéšω');
  t.is(await ask(first.url, 'SHOW data_checksums'), 'on');
  t.is(await ask(first.url, 'SHOW fsync'), 'on');
  t.is(await ask(first.url, 'SHOW timezone'), 'UTC');
  t.is(await ask(first.url, 'SHOW listen_addresses'), '127.0.0.1');
  t.is(await ask(first.url, 'SHOW unix_socket_directories'), '');
  t.is(await ask(first.url, 'SHOW shared_buffers'), '16MB');
  await ask(first.url, 'CREATE EXTENSION pg_trgm');
  t.true(Number(await ask(first.url, "SELECT cardinality(show_trgm('äöü'))")) > 0);
  await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS n');
  await first.stop();
  await first.stop();
  const second = await start(t.context);
  t.false(second.firstStart);
  t.is(await ask(second.url, 'SELECT n FROM kept'), 42);
});

test.serial('only the password lets anyone in, and only its owner can read it', async (t) => {
  const { url } = await start(t.context);
  const wrong = new URL(url);
  wrong.password = 'wrong';
  await t.throwsAsync(ask(wrong.href, 'SELECT 1'), { code: '28P01' });
  t.is((await stat(join(t.context.dir, 'postgres-password'))).mode & 0o777, 0o600);
  t.is((await stat(join(t.context.dir, 'postgres'))).mode & 0o777, 0o700);
  t.deepEqual((await readdir(t.context.dir)).sort(), ['postgres', 'postgres-password', 'postgres.lock']);
});

test.serial('of several starts on one folder at once exactly one wins, the others say that it is in use', async (t) => {
  const outcomes = await Promise.allSettled([start(t.context), start(t.context), start(t.context)]);
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  t.is(reasons.length, 2);
  for (const reason of reasons) {
    t.true(reason instanceof EmbeddedServerError);
    t.regex(reason.message, /in use by another Quartermaster process \(process id \d+\)\. .*set DATABASE_URL/);
  }
});

test.serial('a folder in use by another live process is refused until that one stops', async (t) => {
  const { child, url } = await startChild(t.context, t.context.dir);
  await t.throwsAsync(start(t.context), {
    instanceOf: EmbeddedServerError,
    message: new RegExp(`process id ${child.pid}`),
  });
  t.is(await ask(url, 'SELECT 1'), 1);
  child.stdin?.write('stop\n');
  await once(child, 'exit');
  t.false((await start(t.context)).firstStart);
});

test.serial('two folders are served at the same time', async (t) => {
  const [a, b] = await Promise.all(['a', 'b'].map((name) => start(t.context, { dataDir: join(t.context.dir, name) })));
  t.is(await ask(a?.url ?? '', 'SELECT 1'), 1);
  t.is(await ask(b?.url ?? '', 'SELECT 1'), 1);
  t.not(a?.port, b?.port);
});

test.serial('PostgreSQL ends by itself when our process is killed', async (t) => {
  const { child, url } = await startChild(t.context, t.context.dir);
  await ask(url, 'CREATE TABLE kept AS SELECT 7 AS n');
  const server = await postmaster(t.context.dir);
  await kill(child);
  await gone(server);
  t.is(await ask((await start(t.context)).url, 'SELECT n FROM kept'), 7);
});

test.serial('after kill -9 of both processes the next start recovers what was committed', async (t) => {
  const { child, url } = await startChild(t.context, t.context.dir);
  await ask(url, 'CREATE TABLE kept AS SELECT 7 AS n');
  process.kill(await postmaster(t.context.dir), 'SIGKILL');
  await kill(child);
  t.is(await ask((await start(t.context)).url, 'SELECT n FROM kept'), 7);
});

if (process.platform === 'linux') {
  test.serial('a PostgreSQL that outlived its killed process is stopped and started anew', async (t) => {
    const { child, url, port } = await startChild(t.context, t.context.dir);
    await ask(url, 'CREATE TABLE kept AS SELECT 7 AS n');
    const server = await postmaster(t.context.dir);
    for (const entry of await readdir('/proc')) {
      const command = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
      if (command.includes('read -r _') && command.includes(`port=${port}\0`)) process.kill(Number(entry), 'SIGKILL');
    }
    await kill(child);
    t.is(await ask(url, 'SELECT n FROM kept'), 7);
    const next = await start(t.context);
    t.not(await postmaster(t.context.dir), server);
    t.is(await ask(next.url, 'SELECT n FROM kept'), 7);
  });

  test.serial('left-over files that name an unrelated live process do not hinder a start', async (t) => {
    await (await start(t.context)).stop();
    await writeFile(join(t.context.dir, 'postgres', 'postmaster.pid'), `${process.ppid}\n/x\n1\n1\n\n\n`);
    await writeFile(join(t.context.dir, 'postgres.lock'), `${process.pid} an-earlier-process\n`);
    t.is(await ask((await start(t.context)).url, 'SELECT 1'), 1);
  });
}

test.serial('a first start that was cut off is made up for', async (t) => {
  await mkdir(join(t.context.dir, 'postgres-new', 'data', 'base'), { recursive: true });
  t.true((await start(t.context)).firstStart);
});

test.serial('a port in use is named', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const message = new RegExp(`on port ${port} of 127.0.0.1: .* set EMBEDDED_POSTGRES_PORT`);
  await t.throwsAsync(start(t.context, { port }), { instanceOf: EmbeddedServerError, message });
  other.close();
  await once(other, 'close');
  t.is((await start(t.context, { port })).port, port);
});

test.serial('folders that cannot hold the database are refused in one sentence', async (t) => {
  const refused = (
    dataDir: string,
    message: RegExp,
    instanceOf: new (message: string) => Error = EmbeddedServerError,
  ) => t.throwsAsync(start(t.context, { dataDir }), { instanceOf, message });
  await writeFile(join(t.context.dir, 'file'), '');
  await refused(
    join(t.context.dir, 'file'),
    /^Cannot use the data folder .*: a part of the path is a file;/,
    DataFolderError,
  );
  await refused(join(t.context.dir, 'file', 'below'), /: a part of the path is a file;/, DataFolderError);
  await mkdir(join(t.context.dir, 'foreign', 'postgres', 'x'), { recursive: true });
  await refused(join(t.context.dir, 'foreign'), /is not a PostgreSQL data folder: move it away\.$/);
  await mkdir(join(t.context.dir, 'old', 'postgres'), { recursive: true });
  await writeFile(join(t.context.dir, 'old', 'postgres', 'PG_VERSION'), '15\n');
  await refused(join(t.context.dir, 'old'), /was made by PostgreSQL 15 and this release carries 18/);
});

test.serial('a password file that does not fit is named', async (t) => {
  await (await start(t.context)).stop();
  await writeFile(join(t.context.dir, 'postgres-password'), 'other\n');
  const message = /postgres-password is not the one that the database has\.$/;
  await t.throwsAsync(start(t.context), { instanceOf: EmbeddedServerError, message });
});

if (asRoot) {
  test.serial('a database folder that root restored from a copy is given back to the server', async (t) => {
    await (await start(t.context)).stop();
    spawnSync('chown', ['-R', '0:0', join(t.context.dir, 'postgres')]);
    t.is(await ask((await start(t.context)).url, 'SELECT 1'), 1);
  });

  test.serial('programs in a closed checkout are copied to where their user can run them', async (t) => {
    const installed = await findBinaries(undefined);
    const closed = join(t.context.dir, 'native');
    const open = await mkdtemp(join(tmpdir(), 'qm-cache-'));
    t.teardown(() => rm(open, { recursive: true }));
    await cp(dirname(dirname(installed.postgres)), closed, { recursive: true, verbatimSymlinks: true });
    spawnSync('chmod', ['-R', 'go-rwx', closed]);
    const program = (name: string) => join(closed, 'bin', name);
    const places = { installed: { postgres: program('postgres'), initdb: program('initdb') }, caches: [open] };
    const copies = await Promise.all([findBinaries(NOBODY, places), findBinaries(NOBODY, places)]);
    t.true(copies.every((copy) => copy.postgres.startsWith(open)));
    t.is((await readdir(open)).length, 1);
    const initdb = copies[0]?.initdb ?? '';
    const data = await mkdtemp(join(tmpdir(), 'qm-cluster-'));
    t.teardown(() => rm(data, { recursive: true }));
    await chown(data, NOBODY.uid, NOBODY.gid);
    const made = spawnSync(initdb, ['-D', data, '--no-sync'], { ...NOBODY, cwd: '/', encoding: 'utf8' });
    t.is(made.status, 0, made.stderr);
  });

  const reachable = spawnSync(process.execPath, ['--check', CHILD], { ...NOBODY, cwd: '/' }).status === 0;
  const testAsUser = reachable ? test.serial : test.serial.skip;

  testAsUser('an ordinary user can start it, too', async (t) => {
    await chown(t.context.dir, NOBODY.uid, NOBODY.gid);
    const { child, url, error } = await startChild(t.context, t.context.dir, NOBODY);
    t.is(error, undefined);
    t.is(await ask(url, 'SELECT 1'), 1);
    t.is((await stat(join(t.context.dir, 'postgres'))).uid, NOBODY.uid);
    await kill(child);
    await start(t.context);
    t.is((await stat(join(t.context.dir, 'postgres'))).uid, NOBODY.uid);
  });

  testAsUser('an ordinary user is told about folders that are not theirs', async (t) => {
    const { error } = await startChild(t.context, join(t.context.dir, 'data'), NOBODY);
    t.regex(error ?? '', /^DataFolderError: Cannot use the data folder .*: permission denied; set DATA_DIR/);
  });
}
