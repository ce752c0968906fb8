/** Migrations: from nothing, once, in order, and never changed. */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createTestDatabase, startTestPlatform } from '#test';
import { dumpSchema } from '../../core/database/dump.ts';
import { migrate, migrationState } from '../../core/database/migrations.ts';
import { openDatabase } from '../../core/database/pools.ts';
import { loadModules, migrationFolders, ROOT } from '../../core/loader/load.ts';

const folders = migrationFolders(await loadModules());

test('an empty database is brought up to date once, also by two processes at the same time', async (t) => {
  const database = await createTestDatabase({ empty: true });
  const opened = openDatabase({ url: database.url, poolSize: 4, onError: () => undefined });
  const pool = opened.owner;
  const [first, second] = await Promise.all([migrate(pool, folders), migrate(pool, folders)]);
  t.true(first.length > 0 !== second.length > 0, 'one of them did the work');
  t.deepEqual(await migrate(pool, folders), []);
  await opened.close();
  await database.drop();
});

test('an edited applied migration stops the start before anything changes', async (t) => {
  const database = await createTestDatabase({ empty: true });
  const opened = openDatabase({ url: database.url, poolSize: 4, onError: () => undefined });
  const pool = opened.owner;
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-migrations-'));
  const copy = [{ owner: 'core', path: folder }];
  await cp(join(ROOT, 'migrations'), folder, { recursive: true });
  await migrate(pool, copy);
  const file = join(folder, '001-core.sql');
  await writeFile(file, `${await readFile(file, 'utf8')}\n-- edited\n`);
  await writeFile(join(folder, '900-later.sql'), 'create table later (id int)');
  const error = await t.throwsAsync(migrate(pool, copy), { name: 'DatabaseSetupError' });
  t.regex(error?.message ?? '', /core\/001-core\.sql/);
  const { rows } = await pool.query(`select to_regclass('later') as later`);
  t.is(rows[0].later, null);
  t.deepEqual((await migrationState(pool, copy)).changed, ['core/001-core.sql']);
  await opened.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

test('a database of version 0.1.0 is refused with one sentence', async (t) => {
  const database = await createTestDatabase({ empty: true });
  const opened = openDatabase({ url: database.url, poolSize: 2, onError: () => undefined });
  await opened.owner.query(`create table migrations (owner text, name text, checksum text not null);
    insert into migrations values ('core', '001-foundations.sql', 'any')`);
  const expected = { name: 'DatabaseSetupError', message: /^The database was set up by version 0\.1\.0, which cannot/ };
  await t.throwsAsync(migrate(opened.owner, folders), expected);
  await t.throwsAsync(migrationState(opened.owner, folders), expected);
  await opened.close();
  await database.drop();
});

test('a failing migration leaves nothing of itself and says which file it was', async (t) => {
  const database = await createTestDatabase({ empty: true });
  const opened = openDatabase({ url: database.url, poolSize: 4, onError: () => undefined });
  const pool = opened.owner;
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-migrations-'));
  await writeFile(join(folder, '001-half.sql'), 'create table half (id int); select no_such_function();');
  const error = await t.throwsAsync(migrate(pool, [{ owner: 'trial', path: folder }]));
  t.regex(error?.message ?? '', /trial\/001-half\.sql failed/);
  const { rows } = await pool.query(`select to_regclass('half') as half`);
  t.is(rows[0].half, null);
  await opened.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

test('schema.sql is what the migrations make; run `npm run generate` after changing them', async (t) => {
  const platform = await startTestPlatform();
  t.is(
    await dumpSchema(platform.platform.tasks.work.database.owner),
    await readFile(join(ROOT, 'migrations', 'schema.sql'), 'utf8'),
  );
  await platform.stop();
});

test('an owner who may not set up the roles is told the SQL to run, and with that done an ordinary owner suffices', async (t) => {
  const database = await createTestDatabase({ empty: true });
  const admin = openDatabase({ url: database.url, poolSize: 1, onError: () => undefined });
  const name = `plain_${randomUUID().slice(0, 8)}`;
  const { rows } = await admin.owner.query('select current_database() as name');
  await admin.owner.query(
    `create role ${name} login password 'plain'; alter database ${rows[0].name} owner to ${name}; alter schema public owner to ${name}`,
  );
  const url = Object.assign(new URL(database.url), { username: name, password: 'plain' }).href;
  const plain = openDatabase({ url, poolSize: 4, onError: () => undefined });
  const error = await t.throwsAsync(migrate(plain.owner, folders), { name: 'DatabaseSetupError' });
  const wanted = /As a superuser run: (.*;)$/.exec(error?.message ?? '')?.[1] ?? '';
  t.regex(wanted, new RegExp(`grant quartermaster_app to ${name};`));
  await admin.owner.query(wanted);
  t.true((await migrate(plain.owner, folders)).length > 5);
  await plain.app.query('select 1');
  await plain.close();
  await admin.close();
  await database.drop();
  const server = openDatabase({
    url: process.env.QUARTERMASTER_TEST_SERVER ?? '',
    poolSize: 1,
    onError: () => undefined,
  });
  await server.owner.query(`drop role ${name}`);
  await server.close();
});
