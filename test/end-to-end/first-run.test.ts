/** The first start of a fresh installation, and the ways it may go wrong. */
import { chmod, cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { call, freePort } from '#test';
import { launch, until } from './process.ts';

const folder = () => mkdtemp(join(tmpdir(), 'quartermaster-first-'));

test.serial('an empty folder becomes a running platform, twice in a row and after kill -9', async (t) => {
  t.timeout(600_000);
  const dataDir = await folder();
  const port = await freePort();
  const env = { DATA_DIR: dataDir, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'warn' };
  const start = () => launch('app/quartermaster.ts', ['start'], env, /First system administrator/);
  const begin = Date.now();
  const first = await start();
  t.log(`ready after ${Date.now() - begin} ms`);
  t.regex(first.output(), new RegExp(`http://127\\.0\\.0\\.1:${port}`));
  t.true(first.output().includes(dataDir));
  t.is((await stat(join(dataDir, 'secrets.json'))).mode & 0o777, 0o600);
  const secrets = await readFile(join(dataDir, 'secrets.json'), 'utf8');
  const doctor = await launch('app/quartermaster.ts', ['doctor'], env, null);
  t.notRegex(doctor.output(), /FAIL/);
  t.regex(doctor.output(), /PASS {2}worker heartbeat/);
  t.regex(doctor.output(), /INFO {2}backup: stop the server and copy all of /);

  await first.kill();
  const second = await start();
  t.is((await call(`http://127.0.0.1:${port}`, 'GET', '//health/ready')).status, 200);
  t.is(await second.stop(), 0);
  const third = await start();
  t.is(await readFile(join(dataDir, 'secrets.json'), 'utf8'), secrets);
  t.is(await third.stop(), 0);
  await t.throwsAsync(call(`http://127.0.0.1:${port}`, 'GET', '//health'));
  await rm(dataDir, { recursive: true });
});

test.serial('when its database is killed the platform ends with a sentence, and the next start recovers', async (t) => {
  t.timeout(600_000);
  const dataDir = await folder();
  const env = { DATA_DIR: dataDir, PORT: String(await freePort()), HOST: '127.0.0.1', LOG_LEVEL: 'warn' };
  const start = () => launch('app/quartermaster.ts', ['start'], env, /First system administrator/);
  const first = await start();
  const ended = new Promise((resolve) => first.child.once('exit', resolve));
  process.kill(Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0]), 'SIGKILL');
  t.is(await ended, 1);
  t.regex(first.output(), /The embedded PostgreSQL ended unexpectedly; stopping\./);
  const second = await start();
  t.is(await second.stop(), 0);
  await rm(dataDir, { recursive: true });
});

test.serial(
  'the configured administrator can log in; a copy of the stopped data folder starts with the same data',
  async (t) => {
    t.timeout(600_000);
    const dataDir = await folder();
    const port = await freePort();
    const env = {
      DATA_DIR: dataDir,
      PORT: String(port),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      ENABLE_2FA: 'no',
      BOOTSTRAP_ADMIN_EMAIL: 'root@example.com',
      BOOTSTRAP_ADMIN_PASSWORD: 'a long first password',
    };
    const platform = await launch('app/quartermaster.ts', ['start'], env, /First system administrator/);
    const login = await call<{ tokens: { accessToken: string } }>(`http://127.0.0.1:${port}`, 'POST', '/auth/login', {
      body: { email: 'root@example.com', password: 'a long first password' },
    });
    t.is(login.status, 200);
    const partners = await call(`http://127.0.0.1:${port}`, 'GET', '/orgs/partners', {
      token: login.body.tokens.accessToken,
    });
    t.is(partners.status, 200);
    t.is(await platform.stop(), 0);

    const restored = `${dataDir}-restored`;
    await cp(dataDir, restored, { recursive: true });
    await rm(dataDir, { recursive: true });
    const copy = await launch(
      'app/quartermaster.ts',
      ['start'],
      { ...env, DATA_DIR: restored },
      /First system administrator/,
    );
    const again = await call(`http://127.0.0.1:${port}`, 'GET', '/orgs/partners', {
      token: login.body.tokens.accessToken,
    });
    t.is(again.status, 200, 'the copy of a stopped server has its data and its secrets');
    t.is(await copy.stop(), 0);
    await rm(restored, { recursive: true });
  },
);

const fails = (title: string, env: (dataDir: string) => Promise<Record<string, string>>, sentence: RegExp) =>
  test.serial(title, async (t) => {
    t.timeout(600_000);
    const dataDir = await folder();
    const given = { DATA_DIR: dataDir, HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...(await env(dataDir)) };
    const error = await t.throwsAsync(launch('app/quartermaster.ts', ['start'], given, /\bis ready\b/));
    const [, code, text = ''] = /ended with (\d+): ([\s\S]*)/.exec(error?.message ?? '') ?? [];
    t.is(code, '1');
    t.regex(text.trim(), sentence);
    t.notRegex(text, /\n\s+at /, 'no stack trace');
    await until('the folder is free again', async () => {
      await rm(dataDir, { recursive: true, force: true });
      return true;
    });
  });

const taken = createServer().listen(0, '127.0.0.1');
test.after.always(() => taken.close());
const takenPort = () => {
  const address = taken.address();
  return String(typeof address === 'object' && address ? address.port : 0);
};
fails(
  'a taken port ends the start with one clear sentence',
  async () => ({ PORT: takenPort() }),
  /^The HTTP server cannot listen on port \d+ of 127\.0\.0\.1: another program uses it; set PORT to a free port\.$/,
);
fails(
  'a taken port for metrics ends the start and names its variable',
  async () => ({ PORT: '0', METRICS_PORT: takenPort() }),
  /^The metrics server cannot listen on port \d+ of 127\.0\.0\.1: another program uses it; set METRICS_PORT to a free port\.$/,
);
fails(
  'a data folder that cannot be made is one clear sentence',
  async (dataDir) => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    await chmod(file, 0o600);
    return { PORT: '0', DATA_DIR: join(file, 'data') };
  },
  /^Cannot use the data folder \S*\/file\/data: a part of the path is a file; set DATA_DIR to a folder of your own\.$/,
);
if (process.platform === 'linux') {
  fails(
    'a data folder where the system makes no folders ends the start at once',
    async () => ({ PORT: '0', DATA_DIR: '/proc/quartermaster/data' }),
    /^Cannot use the data folder \/proc\/quartermaster\/data: no folder can be made there; set DATA_DIR to a folder of your own\.$/,
  );
}
fails(
  'every configuration fault is listed at once',
  async () => ({ PORT: 'many', ROLE: 'boss' }),
  /PORT[\s\S]*ROLE|ROLE[\s\S]*PORT/,
);
fails(
  'an unreachable database is one clear sentence',
  async () => ({ PORT: '0', DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none' }),
  /^The database or another service is not reachable: [^\n]*$/,
);
fails(
  'in production secrets must be given',
  async () => ({ NODE_ENV: 'production' }),
  /JWT_SECRET[\s\S]*No enrollment key pepper configured|No enrollment key pepper configured[\s\S]*JWT_SECRET/,
);
