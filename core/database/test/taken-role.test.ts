/** The role that a connection really has is checked: at the start, by the doctor, and for each new connection. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { readConfig } from '#config';
import { joinTestPlatform, startTestPlatform } from '#test';
import { checkDatabase } from '../../../app/doctor/database-checks.ts';
import { Report } from '../../../app/doctor/report.ts';
import { openDatabase } from '../pools.ts';
import { startOptionDroppingPooler } from './option-dropping-pooler.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const INSTEAD = /runs as \w+ instead of quartermaster_(app|platform)/;

test('behind a pooler that drops start-up options nothing starts, and the doctor fails', async (t) => {
  const pooler = await startOptionDroppingPooler(platform.databaseUrl);
  const installation = { databaseUrl: pooler.url, dataDir: platform.dataDir };
  await t.throwsAsync(joinTestPlatform(installation, { LOG_LEVEL: 'silent' }), {
    name: 'DatabaseRoleError',
    message: INSTEAD,
  });
  const database = openDatabase({ url: pooler.url, poolSize: 1, onError: () => undefined });
  for (const pool of [database.app, database.platform]) {
    await t.throwsAsync(pool.query('select 1'), { name: 'DatabaseRoleError', message: INSTEAD });
  }
  t.truthy(await database.owner.query('select 1'));
  const report = new Report();
  await checkDatabase(report, readConfig({ NODE_ENV: 'test' }), database);
  t.true(report.failed);
  await database.close();
  await pooler.stop();
});

test('logins of their own need the rights of their role and no others', async (t) => {
  const [owner, tenantWork, both] = ['owner', 'app', 'both'].map((name) => `test_${name}_${randomUUID().slice(0, 8)}`);
  const password = randomUUID();
  await platform.sql(`create role ${owner} login superuser password '${password}';
    create role ${tenantWork} login password '${password}' in role quartermaster_app;
    create role ${both} login password '${password}' in role quartermaster_app, quartermaster_platform`);
  const open = (name: string | undefined) =>
    openDatabase({
      url: platform.databaseUrl,
      appUrl: Object.assign(new URL(platform.databaseUrl), { username: name, password }).href,
      poolSize: 1,
      onError: () => undefined,
    });
  const cases: [string | undefined, RegExp | null][] = [
    [owner, /may bypass row-level security/],
    [both, /has the rights of quartermaster_platform as well/],
    [tenantWork, null],
  ];
  for (const [name, message] of cases) {
    const database = open(name);
    if (message) await t.throwsAsync(database.app.query('select 1'), { name: 'DatabaseRoleError', message });
    else t.truthy(await database.app.query('select 1'));
    await database.close();
  }
  await platform.sql(`drop role ${owner}; drop role ${tenantWork}; drop role ${both}`);
});
