/** Writing a plugin as a stranger does: the guide's own commands, in an empty folder, against a server that runs. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import test from 'ava';
import { call, createTestDatabase, freePort } from '#test';
import { ROOT } from '../../core/loader/load.ts';
import { buildPluginKit } from '../../packages/plugin-testkit/build/build.ts';
import { launch, until } from '../end-to-end/process.ts';
import { startRegistry } from './local-registry.ts';
import { removeFolder, run } from './stranger.ts';

const SLOW = 50 * 60_000;
const SECONDS = 600;
const ADMIN = { email: 'root@example.com', password: 'a long first password' };

const out = await mkdtemp(join(tmpdir(), 'quartermaster-plugin-kit-'));
const place = await mkdtemp(join(tmpdir(), 'quartermaster-author-'));
let tarballs: string[] = [];
let registry: Awaited<ReturnType<typeof startRegistry>> | null = null;
test.after.always(async () => {
  registry?.stop();
  await Promise.all([removeFolder(out), removeFolder(place)]);
});

test.serial('the kit is built and packed', async (t) => {
  t.timeout(SLOW);
  tarballs = Object.values(await buildPluginKit(out));
  registry = await startRegistry(tarballs);
  t.is(tarballs.length, 3);
});

test.serial('the tarballs are sound packages', async (t) => {
  t.timeout(SLOW);
  const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);
  for (const tarball of tarballs) {
    const { stdout } = await run(bin('publint'), [tarball, '--strict']);
    t.regex(stdout, /All good/, tarball);
    await t.notThrowsAsync(run(bin('attw'), [tarball, '--profile', 'esm-only']), tarball);
  }
});

test.serial('READMEs in the tarballs link only files that the tarballs hold', async (t) => {
  t.timeout(SLOW);
  for (const tarball of tarballs) {
    const [{ stdout: listed }, { stdout: readme }] = await Promise.all([
      run('tar', ['-tzf', tarball]),
      run('tar', ['-xzOf', tarball, 'package/README.md']),
    ]);
    const held = new Set(listed.split('\n').map((path) => path.replace(/^package\//, '').replace(/\/$/, '')));
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) => path);
    for (const path of links) t.true(held.has(path.replace(/^\.\//, '')), `${path} in ${tarball}`);
    t.notRegex(readme, /\b(?:modules|packages)\//, `${tarball} names folders of the checkout`);
  }
});

/** The commands of the guide, with the server's address. */
async function guide(url: string): Promise<string> {
  const text = await readFile(join(ROOT, 'packages/create-plugin/README.md'), 'utf8');
  const block = /## From nothing to a running plugin\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  return block.replace('http://localhost:3000', url);
}

/** A shell outside of this repository, whose npm knows no other registry. */
function shell(commands: string) {
  const path = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  const child = spawn('sh', ['-e', '-c', commands], {
    cwd: place,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...{ PATH: [dirname(process.execPath), ...path].join(delimiter), HOME: place },
      ...{
        npm_config_registry: registry?.url ?? '',
        npm_config_cache: join(place, '.npm'),
        npm_config_update_notifier: 'false',
      },
      ...{ npm_config_audit: 'false', npm_config_fund: 'false', npm_config_yes: 'true' },
      ...{ QUARTERMASTER_EMAIL: ADMIN.email, QUARTERMASTER_PASSWORD: ADMIN.password },
    },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const over = () => child.exitCode !== null || child.signalCode !== null;
  return {
    output: () => text,
    /** Waits until it has printed that; says all that it printed when it ends before. */
    async printed(what: RegExp): Promise<void> {
      await until(String(what), async () => what.test(text) || over(), SECONDS).catch(() => undefined);
      if (!what.test(text))
        throw new Error(`it ended with ${child.exitCode ?? child.signalCode} without ${what}:\n${text}`);
    },
    /** As Ctrl-C in a terminal. */
    async interrupt(): Promise<void> {
      if (!over() && child.pid) process.kill(-child.pid, 'SIGINT');
      await ended;
    },
  };
}

/** A server for development, with one organization. */
async function startServer() {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-dev-'));
  const port = await freePort();
  const env = {
    ...{ DATA_DIR: dataDir, DATABASE_URL: database.url, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'warn' },
    ...{ ENABLE_2FA: 'no', PLUGINS_ALLOW_UNSIGNED: 'true', PLUGINS_SANDBOX: 'strict' },
    ...{ BOOTSTRAP_ADMIN_EMAIL: ADMIN.email, BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password },
  };
  const server = await launch('app/quartermaster.ts', ['start'], env, /First system administrator/);
  const url = `http://127.0.0.1:${port}`;
  const post = async <B>(path: string, body: object, token = '') => {
    const answer = await call<B>(url, 'POST', path, { body, ...(token ? { token } : {}) });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const partner = { companyName: 'Acme', name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  const { tokens } = await post<{ tokens: { accessToken: string } }>('/auth/register-partner', {
    ...partner,
    acceptTerms: true,
  });
  const token = tokens.accessToken;
  const { id: orgId } = await post<{ id: string }>('/orgs/organizations', { name: 'Bakery', slug: 'bakery' }, token);
  const { id: siteId } = await post<{ id: string }>('/orgs/sites', { orgId, name: 'Main street' }, token);
  const { key } = await post<{ key: string }>('/enrollment-keys', { orgId, siteId, name: 'First', maxUsage: 5 }, token);
  return {
    url,
    /** A device enrolls. */
    async joins(hostname: string): Promise<void> {
      const machine = { hostname, osType: 'linux', osVersion: 'Debian 12', architecture: 'x64', agentVersion: '1.0.0' };
      await post('/agents/enroll', { enrollmentKey: key, ...machine });
    },
    async stop(): Promise<void> {
      await server.stop();
      await database.drop();
      await removeFolder(dataDir);
    },
  };
}

test.serial(
  "the guide's commands lead from nothing to a plugin that hears events, and a change of its source is heard too",
  async (t) => {
    t.timeout(SLOW);
    const server = await startServer();
    const commands = await guide(server.url);
    t.true(commands.trim().split('\n').length <= 4, commands);
    const terminal = shell(commands);
    t.teardown(async () => {
      await terminal.interrupt();
      await server.stop();
    });
    await terminal.printed(/^Hello bakery 0\.1\.0-dev\.\d+ runs\.$/m);
    t.regex(terminal.output(), /Hello bakery 0\.1\.0 is valid\./);
    t.regex(terminal.output(), /^# pass 3$|^ℹ pass 3$/m);
    t.notRegex(terminal.output(), /advice:/);
    const first = `pc-${randomUUID().slice(0, 8)}`;
    await server.joins(first);
    await terminal.printed(new RegExp(`info \\[device\\.enrolled\\] Hello, ${first}`));

    const source = join(place, 'hello-bakery/src/index.ts');
    const text = await readFile(source, 'utf8');
    // What does not compile is told, and what runs goes on.
    await writeFile(source, text.replace('export default definePlugin({', 'export default definePlugin({{'));
    await terminal.printed(/Not loaded:\n {2}src\/index\.ts:\d+/);
    await writeFile(source, text.replace('ctx.log.info(`', 'ctx.log.info(`Good morning and '));
    await terminal.printed(/runs\.[\s\S]*Not loaded[\s\S]*runs\./);
    const second = `pc-${randomUUID().slice(0, 8)}`;
    await server.joins(second);
    await terminal.printed(new RegExp(`info \\[device\\.enrolled\\] Good morning and Hello, ${second}`));
    t.false(terminal.output().includes(ADMIN.password));
    await terminal.interrupt();
    t.regex(terminal.output(), /Stopped\. The plugin stays installed as it is\./);
  },
);
