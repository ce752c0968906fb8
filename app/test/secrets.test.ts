/** Lost secrets: a start with others stops before it makes anything unreadable, and the operator may go on without them. */
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { createTestDatabase, freePort } from '#test';
import { launch } from '../../test/end-to-end/process.ts';

const PROGRAM = 'app/quartermaster.ts';
const database = await createTestDatabase({ empty: true });
const folder = await mkdtemp(join(tmpdir(), 'quartermaster-secrets-'));
const file = join(folder, 'secrets.json');
const kept = join(folder, 'kept.json');
const env = {
  DATABASE_URL: database.url,
  DATA_DIR: folder,
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  LOG_LEVEL: 'error',
  BOOTSTRAP_ADMIN_EMAIL: 'root@example.com',
  BOOTSTRAP_ADMIN_PASSWORD: 'correct horse battery',
};
test.after.always(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

/** Starts the server and stops it. */
async function started(more: Record<string, string> = {}): Promise<void> {
  await (await launch(PROGRAM, ['start'], { ...env, ...more }, /is ready/)).stop();
}
/** What the command prints; its exit code must be 0. */
const run = async (...args: string[]) => (await launch(PROGRAM, args, env, null)).output();
const failing = async (args: string[], more: Record<string, string> = {}): Promise<string> =>
  launch(PROGRAM, args, { ...env, ...more }, null).then(
    () => 'it succeeded',
    (error: Error) => error.message,
  );
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

test.serial('secrets that are gone stop the start and every command, and no new ones are made', async (t) => {
  t.timeout(300_000);
  await started();
  t.regex(await run('secrets', 'check'), /those that the database was used with/);
  await rename(file, kept);
  const sentence = new RegExp(
    `ended with 1: ${file} is gone, and this database was used with the secrets in it: bring the file back`,
  );
  for (const args of [['start'], ['audit', 'verify'], ['secrets', 'check']]) t.regex(await failing(args), sentence);
  t.regex(await failing(['doctor']), /FAIL {2}secrets: .* is gone/);
  t.false(await exists(file));
  await rename(kept, file);
  t.regex(await run('secrets', 'accept-loss'), /^Nothing is lost/);
  await started();
});

test.serial('another secret in the environment is named with its variable', async (t) => {
  t.timeout(300_000);
  const key = 'another encryption key of forty letters!';
  t.regex(
    await failing(['start'], { APP_ENCRYPTION_KEY: key }),
    /used with another encryption key than the one in APP_ENCRYPTION_KEY, and another pepper of enrollment keys than the one in APP_ENCRYPTION_KEY: bring/,
  );
  t.regex(
    await failing(['start'], { JWT_SECRET: 'another key of access tokens, forty long' }),
    /another key of access tokens than the one in JWT_SECRET, and another pepper .* in JWT_SECRET: bring/,
  );
});

test.serial('an operator reads what is lost, confirms it, and the installation goes on with new secrets', async (t) => {
  t.timeout(300_000);
  const sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  await sql.query(`update users set mfa_secret = 'v1.unread' where email = 'root@example.com'`);
  await sql.query(`insert into push_keys (id, public_key, sealed) values (gen_random_uuid(), 'p', 'v1.unread')`);
  await rename(file, kept);
  const before = await sql.query('select * from secret_fingerprints order by name');
  const told = await failing(['secrets', 'accept-loss']);
  t.regex(told, /1 authenticators of users, with their recovery codes; an administrator resets/);
  t.regex(told, /chains of the audit trail, whose proofs no longer fit/);
  t.regex(told, /Nothing was changed/);
  t.deepEqual((await sql.query('select * from secret_fingerprints order by name')).rows, before.rows);
  t.false(await exists(file));
  t.regex(await run('secrets', 'accept-loss', '--confirm'), /goes on with the present secrets/);
  t.is((await sql.query('select 1 from push_keys')).rowCount, 0);
  t.not(await readFile(file, 'utf8'), await readFile(kept, 'utf8'));
  await started();
  await sql.end();
});
