/** Migrations: from nothing, once, in order, and never changed. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createTestDatabase, startTestPlatform } from '#test';
import { dumpSchema } from '../../core/database/dump.ts';
import { migrate, migrationState } from '../../core/database/migrations.ts';
import { openDatabase } from '../../core/database/pools.ts';
import { loadModules, migrationFolders, ROOT } from '../../core/platform.ts';

const folders = migrationFolders(await loadModules({ modules: { disabled: [], enabled: [] } }));

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
  const file = join(folder, '002-tenancy.sql');
  await writeFile(file, `${await readFile(file, 'utf8')}\n-- edited\n`);
  await writeFile(join(folder, '900-later.sql'), 'create table later (id int)');
  const error = await t.throwsAsync(migrate(pool, copy), { name: 'DatabaseSetupError' });
  t.regex(error?.message ?? '', /core\/002-tenancy\.sql/);
  const { rows } = await pool.query(`select to_regclass('later') as later`);
  t.is(rows[0].later, null);
  t.deepEqual((await migrationState(pool, copy)).changed, ['core/002-tenancy.sql']);
  await opened.close();
  await database.drop();
  await rm(folder, { recursive: true });
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
