/** A database host that falls silent: sockets stay open and nothing answers. Everything goes on when it is back. */
import test from 'ava';
import pg from 'pg';
import { joinTestPlatform, startTestPlatform, tenant, until } from '#test';
import { startWorkers } from '../../../workers/index.ts';
import { startSealer } from '../../audit/sealer.ts';
import { createLog } from '../../log.ts';
import { startSwallowingProxy } from './swallowing-proxy.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const log = createLog('silent');

test('requests, heartbeats and the sealer end in time while the host is silent, and go on when it is back', async (t) => {
  const { partner, orgId } = await tenant(platform);
  const proxy = await startSwallowingProxy(platform.databaseUrl);
  const behind = await joinTestPlatform({ databaseUrl: proxy.url, dataDir: platform.dataDir }, { LOG_LEVEL: 'silent' });
  const { tasks } = behind.platform;
  const workers = await startWorkers({ ...tasks, log }, { concurrency: 2, cron: false, version: 'test' });
  const sealer = startSealer({ pool: tasks.work.database.platform, mac: tasks.work.services.mac, log });
  const createSite = (name: string) =>
    behind.call('POST', '/orgs/sites', { token: partner.token, body: { orgId, name } });
  const beats = async () =>
    (
      await platform.sql<{ age: number }>(
        `select extract(epoch from now() - heartbeat_at)::float8 as age
      from worker_nodes where id = $1`,
        [workers.nodeId],
      )
    )[0]?.age ?? 99;
  t.is((await createSite('Before')).status, 201);

  proxy.fallSilent();
  const begun = performance.now();
  const answers = await Promise.all([createSite('During 1'), createSite('During 2')]);
  const seconds = (performance.now() - begun) / 1000;
  for (const { status, headers } of answers) {
    t.is(status, 503);
    t.not(headers.get('retry-after'), null);
  }
  t.true(seconds < 30, `answered after ${seconds} s`);

  proxy.speak();
  t.truthy(await until(async () => (await createSite(`After ${Math.random()}`)).status === 201, 40));
  await sealer.drain();
  t.truthy(await until(async () => (await beats()) < 6, 40));
  t.truthy(await until(() => tasks.work.database.owner.idleCount > 0, 40));
  await sealer.stop();
  const stopping = performance.now();
  await workers.stop();
  t.true(performance.now() - stopping < 20_000);
  await behind.stop();
  await proxy.stop();
});

test('a stop while the host is silent ends in time', async (t) => {
  const proxy = await startSwallowingProxy(platform.databaseUrl);
  const behind = await joinTestPlatform({ databaseUrl: proxy.url, dataDir: platform.dataDir }, { LOG_LEVEL: 'silent' });
  const { tasks } = behind.platform;
  const { database } = tasks.work;
  const workers = await startWorkers({ ...tasks, log }, { concurrency: 2, cron: false, version: 'test' });
  const stuck = database.platform.query('select 1 from pg_sleep(60)').then(
    () => 'answered',
    (error: Error) => error.message,
  );
  const SLEEPING = `select from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()
    and datname = current_database()`;
  await until(async () => (await platform.sql(SLEEPING)).length > 0);
  proxy.fallSilent();
  const begun = performance.now();
  await database.endIfSilent();
  await t.throwsAsync(database.app.query('select 1'), { message: /does not answer/ });
  t.regex(await stuck, /did not answer in time/);
  await workers.stop();
  await behind.platform.stop();
  const seconds = (performance.now() - begun) / 1000;
  t.true(seconds < 30, `stopped after ${seconds} s`);
  await proxy.stop();
});

test('every pool has limits for statements, locks, idle transactions and answers', async (t) => {
  const { owner, app, platform: spanning } = platform.platform.tasks.work.database;
  for (const pool of [owner, app, spanning]) {
    const { rows } = await pool.query(
      `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`,
    );
    t.deepEqual(rows, [{ statement: '30s', lock: '10s' }]);
    t.is(pool.options.keepAlive, true);
  }
});

test('a request waits ten seconds for a lock and no longer', async (t) => {
  const { partner, siteId } = await tenant(platform);
  const holder = new pg.Client({ connectionString: platform.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select from sites where id = $1 for update', [siteId]);
  const { status, body } = await platform.call('PATCH', `/orgs/sites/${siteId}`, {
    token: partner.token,
    body: { name: 'Other' },
  });
  await holder.query('rollback');
  await holder.end();
  t.is(status, 503);
  t.regex((body as { error: { message: string } }).error.message, /held the data/);
});
