/** /health/ready is 200 only where a request would succeed, and says what is missing. */
import test from 'ava';
import pg from 'pg';
import { startTestPlatform, until } from '#test';

const platform = await startTestPlatform({ LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: '2' });
test.after.always(() => platform.stop());

const ask = () => platform.call<{ status: string; reason?: string }>('GET', '//health/ready');
/** The state may be up to a second old. */
const becomes = (status: number) =>
  until(async () => {
    const answer = await ask();
    return answer.status === status ? answer.body : null;
  });

async function asAdmin(...statements: string[]): Promise<void> {
  const admin = new pg.Client({ connectionString: platform.databaseUrl });
  await admin.connect();
  await admin.query('set default_transaction_read_only = off');
  for (const statement of statements) await admin.query(statement);
  await admin.end();
}
const RECONNECT = `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'quartermaster:%'
  and datname = current_database()`;

test.serial('a database that takes reads and writes is ready, for many who ask at once', async (t) => {
  const answers = await Promise.all(Array.from({ length: 20 }, ask));
  for (const { status, body } of answers) t.deepEqual([status, body.status], [200, 'ready']);
});

test.serial('a database that only reads is not ready', async (t) => {
  const name = new URL(platform.databaseUrl).pathname.slice(1);
  await asAdmin(`alter database ${name} set default_transaction_read_only = on`, RECONNECT);
  const { reason } = await becomes(503);
  await asAdmin(`alter database ${name} set default_transaction_read_only = off`, RECONNECT);
  t.regex((await until(() => reason)) ?? '', /a write: The database accepts no writes|reachable/);
  t.is((await becomes(200)).status, 'ready');
});

test.serial('a full disk is named', async (t) => {
  await platform.sql(`create function full_disk() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger full_disk before insert on sync_horizons for each row execute function full_disk()`);
  t.is((await becomes(503)).reason, 'a write: The database has no disk space left');
  await platform.sql('drop trigger full_disk on sync_horizons');
  t.is((await becomes(200)).status, 'ready');
});

test.serial('a commit that never ends, as without a synchronous standby, is named', async (t) => {
  await platform.sql(`create function hang() returns trigger language plpgsql as $$
    begin perform pg_sleep(60); return null; end $$;
    delete from sync_horizons;
    create constraint trigger hang after insert on sync_horizons deferrable initially deferred
      for each row execute function hang()`);
  t.regex(
    (await becomes(503)).reason ?? '',
    /^a write: the database does not answer in time|^a write: .*not reachable/i,
  );
  await asAdmin(RECONNECT, 'drop trigger hang on sync_horizons');
  t.is((await becomes(200)).status, 'ready');
});

test.serial('an exhausted pool is named', async (t) => {
  const { app } = platform.platform.tasks.work.database;
  const held = [await app.connect(), await app.connect()];
  t.is((await becomes(503)).reason, 'a connection for requests: no connection is free');
  for (const client of held) client.release();
  t.is((await becomes(200)).status, 'ready');
});
