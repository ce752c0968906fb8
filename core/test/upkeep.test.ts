/** Partitions are there when they are needed, and old history goes. */
import test from 'ava';
import { createTestDatabase, startTestPlatform } from '#test';
import { openDatabase } from '../database/pools.ts';
import { makePartitions, markHorizon, pruneHistory } from '../database/upkeep.ts';

const days = (table: string) => `select count(*)::int as n from pg_inherits where inhparent = '${table}'::regclass`;

test('a start after a long rest makes the coming days of every table in partitions, also when two start at once', async (t) => {
  const created = await createTestDatabase();
  const database = openDatabase({ url: created.url, poolSize: 3, onError: () => undefined });
  const { rows: tables } = await database.owner.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'p' and relnamespace = 'public'::regnamespace`,
  );
  t.true(tables.length >= 3);
  for (const { name } of tables) {
    const { rows } = await database.owner.query(
      `select inhrelid::regclass::text as part from pg_inherits where inhparent = '${name}'::regclass`,
    );
    for (const { part } of rows) await database.owner.query(`drop table ${part}`);
  }
  await Promise.all([makePartitions(database.platform), makePartitions(database.platform)]);
  for (const { name } of tables) {
    const { rows } = await database.owner.query<{ n: number }>(days(name));
    t.is(rows[0]?.n, 9, name);
  }
  await database.close();
  await created.drop();
});

test('old days of job history and old events are removed, recent ones stay', async (t) => {
  const platform = await startTestPlatform();
  await platform.sql(
    `create table job_runs_y2020m01d01 partition of job_runs for values from ('2020-01-01T00:00Z') to ('2020-01-02T00:00Z')`,
  );
  await platform.sql(
    `insert into events (id, name, occurred_at, actor, data, xid) values
       (gen_random_uuid(), 'old', now() - interval '31 days', '{}', '{}', '1'),
       (gen_random_uuid(), 'old, and committed late', now() - interval '31 days', '{}', '{}', pg_current_xact_id()),
       (gen_random_uuid(), 'new', now(), '{}', '{}', pg_current_xact_id())`,
  );
  const pool = platform.platform.tasks.work.database.platform;
  await markHorizon(pool);
  await platform.sql(`delete from sync_horizons where xid < (select max(xid) from sync_horizons)`);
  await platform.sql(`update events set xid = pg_current_xact_id() where name <> 'old'`);
  await pruneHistory(pool);
  t.deepEqual(await platform.sql('select name from events order by name'), [
    { name: 'new' },
    { name: 'old, and committed late' },
  ]);
  t.deepEqual(await platform.sql(`select to_regclass('job_runs_y2020m01d01') as old`), [{ old: null }]);
  const [{ n } = { n: 0 }] = await platform.sql<{ n: number }>(days('job_runs'));
  // One more where midnight was since the tables were made.
  t.true(n === 9 || n === 10, `${n} days`);
  await platform.stop();
});
