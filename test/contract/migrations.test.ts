/** Migrations: from nothing, once, in order, and never changed. */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Logger } from 'pino';
import semver from 'semver';
import { createTestDatabase, startTestPlatform } from '#test';
import { bringUpToDate } from '../../core/database/bring-up-to-date.ts';
import { dumpSchema } from '../../core/database/dump.ts';
import { migrate, migrationState } from '../../core/database/migrations.ts';
import { openDatabase } from '../../core/database/pools.ts';
import { loadModules, migrationFolders, ROOT } from '../../core/loader/load.ts';
import manifest from '../../package.json' with { type: 'json' };

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

test('an older program refuses a database that needs a newer one, and says when a newer one was there', async (t) => {
  const database = await createTestDatabase({ empty: true });
  const opened = openDatabase({ url: database.url, poolSize: 4, onError: () => undefined });
  const pool = opened.owner;
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-migrations-'));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  const newer = [{ owner: 'trial', path: folder }];
  await write('001-first.sql', 'create table firsts (id int);');
  await migrate(pool, newer);
  // As an older release left it: without the column of the versions.
  await pool.query('alter table migrations drop column needs');
  t.deepEqual(await migrationState(pool, newer), { applied: 1, pending: [], changed: [], newer: [] });
  await write('002-adds.sql', 'alter table firsts add column name text;');
  await migrate(pool, newer);
  const older = [{ owner: 'trial', path: await mkdtemp(join(tmpdir(), 'quartermaster-migrations-')) }];
  await cp(join(folder, '001-first.sql'), join(older[0]?.path ?? '', '001-first.sql'));
  t.deepEqual(await migrate(pool, older), []);
  t.deepEqual((await migrationState(pool, older)).newer, ['trial/002-adds.sql']);
  const said: string[] = [];
  const log = { warn: (_: object, text: string) => said.push(text), info: () => undefined } as unknown as Logger;
  for (const autoMigrate of [true, false]) await bringUpToDate(pool, older, autoMigrate, log);
  t.deepEqual(said, Array(2).fill('a newer version has migrated this database; this version works with it'));
  await write(
    '003-removes.sql',
    '-- Removes what 99.1 no longer reads.\n-- needs: 99.1.0\nalter table firsts drop column id;',
  );
  await migrate(pool, newer);
  const expected = {
    name: 'DatabaseSetupError',
    message: /trial\/003-removes\.sql needs Quartermaster 99\.1\.0 or newer, and this is /,
  };
  await t.throwsAsync(migrate(pool, older), expected);
  await t.throwsAsync(migrationState(pool, older), expected);
  for (const autoMigrate of [true, false]) await t.throwsAsync(bringUpToDate(pool, older, autoMigrate, log), expected);
  t.deepEqual(await migrate(pool, newer), [], 'the version that brought it knows what it needs');
  await opened.close();
  await database.drop();
  await Promise.all([...newer, ...older].map(({ path }) => rm(path, { recursive: true })));
});

test('a version that a migration needs is this one or an older one', async (t) => {
  for (const { path } of folders) {
    for (const name of (await readdir(path).catch(() => [])).filter((one) => /^\d{3}-.*\.sql$/.test(one))) {
      const text = await readFile(join(path, name), 'utf8');
      const [, needs] = /^-- needs:(.*)$/m.exec(text) ?? [];
      if (needs) t.true(semver.valid(needs.trim()) !== null && semver.lte(needs.trim(), manifest.version), name);
    }
  }
  t.pass();
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
