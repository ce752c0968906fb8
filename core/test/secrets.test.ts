/** Secrets: the configured ones win, the others are generated once and kept. */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { readConfig } from '#config';
import { resolveSecrets, SecretsError } from '../secrets.ts';

const long = (name: string) => name.padEnd(32, '.');

async function folder(t: { teardown(fn: () => Promise<void>): void }): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'qm-secrets-'));
  t.teardown(() => rm(dir, { recursive: true }));
  return dir;
}

test('secrets that are not configured are generated once and kept in a private file', async (t) => {
  const dir = join(await folder(t), 'data');
  const first = await resolveSecrets(readConfig({ DATA_DIR: dir }));
  t.is(new Set(Object.values(first)).size, 3);
  for (const secret of Object.values(first)) t.regex(secret, /^[0-9a-f]{64}$/);
  t.is((await stat(join(dir, 'secrets.json'))).mode & 0o777, 0o600);
  t.deepEqual(await resolveSecrets(readConfig({ DATA_DIR: dir })), first);
});

test('processes that start at once agree on one file', async (t) => {
  const dir = await folder(t);
  const config = readConfig({ DATA_DIR: dir });
  const all = await Promise.all(Array.from({ length: 20 }, () => resolveSecrets(config)));
  for (const secrets of all) t.deepEqual(secrets, all[0]);
  t.deepEqual(await readdir(dir), ['secrets.json']);
});

test('the pepper is the first configured variable in the fixed order', async (t) => {
  const env: Record<string, string> = { DATA_DIR: await folder(t) };
  const pepper = async () => (await resolveSecrets(readConfig(env))).enrollmentPepper;
  t.regex(await pepper(), /^[0-9a-f]{64}$/);
  for (const name of ['JWT_SECRET', 'SECRET_ENCRYPTION_KEY', 'APP_ENCRYPTION_KEY', 'ENROLLMENT_KEY_PEPPER']) {
    env[name] = long(name);
    t.is(await pepper(), long(name));
  }
});

test('configured secrets leave no file behind', async (t) => {
  const dir = await folder(t);
  const env = { DATA_DIR: dir, NODE_ENV: 'production', JWT_SECRET: long('jwt'), APP_ENCRYPTION_KEY: long('app') };
  const expected = { jwtSecret: long('jwt'), encryptionKey: long('app'), enrollmentPepper: long('app') };
  t.deepEqual(await resolveSecrets(readConfig(env)), expected);
  t.deepEqual(await readdir(dir), []);
});

test('in production nothing is generated', async (t) => {
  const config = { ...readConfig({ DATA_DIR: await folder(t) }), production: true };
  await t.throwsAsync(resolveSecrets(config), { instanceOf: SecretsError });
});

test('a damaged file is refused and left as it is', async (t) => {
  const dir = await folder(t);
  const path = join(dir, 'secrets.json');
  for (const text of ['', '{"jwtSecret":"abc', '{"jwtSecret":"abc","encryptionKey":"def"}', 'null']) {
    await writeFile(path, text);
    const error = await t.throwsAsync(resolveSecrets(readConfig({ DATA_DIR: dir })), { instanceOf: SecretsError });
    t.regex(error?.message ?? '', /are damaged: restore the file/);
    t.false(error?.message.includes('abc'));
    t.is(await readFile(path, 'utf8'), text);
  }
});

test('a folder that cannot be made is named', async (t) => {
  const dir = await folder(t);
  await writeFile(join(dir, 'file'), '');
  const config = readConfig({ DATA_DIR: join(dir, 'file') });
  await t.throwsAsync(resolveSecrets(config), { instanceOf: SecretsError, message: /^Cannot read the secrets in / });
});
