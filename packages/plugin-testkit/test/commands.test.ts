/** The command `plugin`: what it refuses and where, and packages that a server takes. */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageHash, readPackage, verifyPackage } from '@quartermaster/plugin-sdk/host';
import test, { type ExecutionContext } from 'ava';
import { manifestOf, wants } from './plugins.ts';

const SLOW = 10 * 60_000;
/** Types are taken away from the sources of this checkout only. */
const QUIET = ['--disable-warning=ExperimentalWarning'];
const COMMAND = join(import.meta.dirname, '../src/commands/main.ts');
const manifest = manifestOf({
  permissions: wants('devices:read'),
  hooks: [{ event: 'device.online', handler: 'onOnline' }],
});
const SOURCE = `import { definePlugin } from '@quartermaster/plugin-sdk';
import { greeting } from './greeting.ts';
export default definePlugin({ handlers: { onOnline: (event: { id: string }) => greeting + event.id } });
`;
const FILES = {
  'plugin.json': JSON.stringify(manifest),
  'src/index.ts': SOURCE,
  'src/greeting.ts': `export const greeting: string = 'Hello ';\n`,
  'README.md': '# Desk bridge\n',
  'assets/icon.svg': '<svg/>',
  'test/index.test.ts': `import { test } from 'node:test';\ntest('the first', () => {});\n`,
};

/** The folder of a plugin. */
async function folderWith(t: ExecutionContext, changes: Record<string, string> = {}): Promise<string> {
  t.timeout(SLOW);
  const folder = await mkdtemp(join(tmpdir(), 'plugin-folder-'));
  t.teardown(() => rm(folder, { recursive: true }));
  for (const [path, text] of Object.entries({ ...FILES, ...changes })) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

function plugin(cwd: string, ...args: string[]): Promise<{ code: number; said: string }> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env;
    execFile(process.execPath, [...QUIET, COMMAND, ...args], { cwd, env: { PATH } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    );
  });
}

test.serial('a sound plugin is valid, and its tests run', async (t) => {
  const folder = await folderWith(t);
  t.deepEqual(await plugin(folder, 'validate'), { code: 0, said: 'Desk bridge 1.2.0 is valid.\n' });
  const { code, said } = await plugin(folder, 'test', '--test-reporter=tap');
  t.is(code, 0, said);
  t.regex(said, /^# pass 1$/m);
});

const faulty: [string, Record<string, string>, RegExp][] = [
  ['JSON that is none', { 'plugin.json': '{,' }, /plugin\.json: .*JSON/],
  [
    'a manifest without what its hooks need',
    { 'plugin.json': JSON.stringify({ ...manifest, permissions: [] }) },
    /plugin\.json: hooks\.0\.event: needs the permission devices:read/,
  ],
  [
    'a manifest for another API',
    { 'plugin.json': JSON.stringify({ ...manifest, engine: { api: '^7' } }) },
    /engine\.api: leaves out/,
  ],
  ['a source that does not compile', { 'src/index.ts': 'export default {{' }, /src\/index\.ts:1: /],
  [
    'an import that is nowhere',
    { 'src/greeting.ts': `export { greeting } from 'left-pad';` },
    /src\/greeting\.ts:1: .*left-pad/,
  ],
  [
    'a module that reaches the machine',
    { 'src/greeting.ts': `import { hostname } from 'node:os';\nexport const greeting = hostname();` },
    /src\/greeting\.ts: imports node:os, which plugins cannot use/,
  ],
  [
    'handlers that are missing',
    { 'src/index.ts': 'export default { handlers: {} };' },
    /dist\/index\.js: has no handler onOnline/,
  ],
  ['a file that throws', { 'src/greeting.ts': `throw new Error('too early');` }, /dist\/index\.js: cannot be loaded/],
  ['a file name that servers refuse', { 'assets/a b;c.svg': '<svg/>' }, /package: The name .* is not allowed/],
];
for (const [what, changes, fault] of faulty) {
  test.serial(`${what}: said with its place, and neither valid nor packed`, async (t) => {
    const folder = await folderWith(t, changes);
    const { code, said } = await plugin(folder, 'validate');
    t.is(code, 1);
    t.regex(said, fault);
    t.notRegex(said, /\n\s+at /, 'no stack trace');
    t.is((await plugin(folder, 'pack')).code, 1);
  });
}

test.serial('a package has the bundle and nothing of the sources, and the same bytes each time', async (t) => {
  const folder = await folderWith(t);
  const { code, said } = await plugin(folder, 'pack', '--out', 'out');
  t.is(code, 0, said);
  const content = await readFile(join(folder, 'out/desk-bridge-1.2.0.tgz'));
  t.true(said.includes(packageHash(content)));
  t.is(
    await readFile(join(folder, 'out/desk-bridge-1.2.0.tgz.sha256'), 'utf8'),
    `${packageHash(content)}  desk-bridge-1.2.0.tgz\n`,
  );
  const { files } = await readPackage(content);
  t.deepEqual([...files.keys()].sort(), ['README.md', 'assets/icon.svg', 'dist/index.js', 'plugin.json']);
  t.regex(files.get('dist/index.js')?.toString() ?? '', /from ["']@quartermaster\/plugin-sdk["']/);
  const elsewhere = await folderWith(t);
  await utimes(join(elsewhere, 'README.md'), 1_000, 1_000);
  await plugin(elsewhere, 'pack', '--out', 'out');
  t.deepEqual(await readFile(join(elsewhere, 'out/desk-bridge-1.2.0.tgz')), content);
});

test.serial('a signature is one that servers verify by the key that was printed', async (t) => {
  const folder = await folderWith(t);
  const made = await plugin(folder, 'new-key', 'acme.pem', '--key-id', 'acme-1');
  const [, id = '', publicKey = ''] = /^PLUGINS_TRUST_KEYS=([\w.-]+):(\S+)\n$/.exec(made.said) ?? [];
  t.is(id, 'acme-1');
  t.is((await plugin(folder, 'new-key', 'acme.pem')).code, 1, 'no key is written over');
  t.is((await plugin(folder, 'pack', '--sign', 'acme.pem', '--key-id', 'acme-1')).code, 0);
  const content = await readFile(join(folder, 'desk-bridge-1.2.0.tgz'));
  const signature = await readFile(join(folder, 'desk-bridge-1.2.0.tgz.sig'), 'utf8');
  t.is(verifyPackage(packageHash(content), signature, [{ id, publicKey }]), 'acme-1');
  t.is(verifyPackage(packageHash(Buffer.from('other')), signature, [{ id, publicKey }]), null);
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  await writeFile(join(folder, 'rsa.pem'), rsa.export({ format: 'pem', type: 'pkcs8' }));
  t.regex((await plugin(folder, 'pack', '--sign', 'rsa.pem')).said, /is not an Ed25519 key/);
});

test.serial('plugin dev wants credentials by the environment, and says so', async (t) => {
  const folder = await folderWith(t);
  const { code, said } = await plugin(folder, 'dev', '--server', 'http://127.0.0.1:9');
  t.is(code, 1);
  t.regex(said, /QUARTERMASTER_EMAIL and QUARTERMASTER_PASSWORD/);
  t.regex((await plugin(folder, 'dev')).said, /--server URL/);
});

test.serial('what it does not know is answered with how it is used', async (t) => {
  const folder = await folderWith(t);
  const { code, said } = await plugin(folder, 'explode');
  t.is(code, 1);
  t.regex(said, /^usage: plugin validate/);
  t.is((await plugin(folder, '--help')).code, 0);
});
