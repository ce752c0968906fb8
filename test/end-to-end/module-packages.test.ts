/** Module packages as an operator meets them: the commands, the log, and what lies in the queue while one is broken. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { runOnce } from 'graphile-worker';
import { call, createTestDatabase, freePort, joinTestPlatform, orgUser, startTestPlatform, tenant } from '#test';
import { KIT, packageFolder, route } from '../../core/loader/test/package-folder.ts';
import { taskList } from '../../workers/index.ts';
import { launch } from './process.ts';

const good = {
  name: 'good',
  files: {
    'routes/a.js': route('/acme-good'),
    'migrations/001-notes.sql': `create table acme_notes (org_id uuid not null); call protect_tenant('acme_notes');`,
  },
};
const bad = { name: 'bad', files: { 'migrations/001-bad.sql': 'select no_such_function();' } };

/** What a command prints, and its exit code. */
const command = (name: string, env: Record<string, string>) =>
  new Promise<{ code: number; text: string }>((resolve) => {
    execFile(
      process.execPath,
      ['app/quartermaster.ts', name],
      { env: { PATH: process.env.PATH ?? '', ...env } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, text: out + err }),
    );
  });

test('migrate and doctor name the faulty package and do the rest; the server says it in one line and is ready', async (t) => {
  t.timeout(600_000);
  const folder = await packageFolder();
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-data-'));
  const database = await createTestDatabase();
  await folder.add(good);
  await folder.add(bad);
  const port = await freePort();
  const env = {
    ...folder.env('bad', 'good'),
    ...{ DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: String(port), HOST: '127.0.0.1', LOG_LEVEL: 'error' },
  };
  const before = await command('doctor', env);
  t.regex(
    before.text,
    /FAIL {2}module package @acme\/good: migrations not applied or changed: acme-good\/001-notes\.sql/,
  );
  const migrated = await command('migrate', env);
  t.is(migrated.code, 1);
  t.regex(migrated.text, /1 applied\n {2}acme-good\/001-notes\.sql/);
  t.regex(migrated.text, /Left out: @acme\/bad: Migration acme-bad\/001-bad\.sql failed: .*no_such_function/);
  const after = await command('doctor', env);
  t.regex(after.text, /PASS {2}module package @acme\/good: acme-good, loaded and migrated/);
  t.regex(after.text, /FAIL {2}module package @acme\/bad: migrations not applied or changed/);
  const server = await launch('app/quartermaster.ts', ['start'], env, /First system administrator/);
  t.is((await call(`http://127.0.0.1:${port}`, 'GET', '//health/ready')).status, 200);
  const errors = server
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{') && JSON.parse(line).level >= 50);
  t.is(errors.length, 1);
  t.like(JSON.parse(errors[0] ?? '{}'), {
    module: 'acme-bad',
    package: '@acme/bad',
    msg: 'a module package cannot be used; the server runs without it',
  });
  t.is(await server.stop(), 0);
  await Promise.all([folder.remove(), rm(dataDir, { recursive: true })]);
  await database.drop();
});

const job = `${KIT}export default defineJob({ name: 'acme-kept/note', summary: 'Notes', scope: 'tenant',
  payload: Joi.object({}), maxAttempts: 3, run: async (ctx) => {
    await ctx.sql('insert into acme_kept (org_id) values ($1)', [ctx.scope.orgId]);
  } });`;
const asking = `${KIT}export default [defineRoute({ method: 'POST', path: '/acme-kept', summary: 'Asks for a note',
  access: { permission: 'devices:write' }, audit: { none: 'a test' }, response: Joi.object({}),
  handler: (ctx) => { ctx.addJob('acme-kept/note', {}); return {}; } })];`;

const BREAKS = { load: `throw new Error('broken');`, start: '' };

for (const [stage, index] of Object.entries(BREAKS)) {
  test(`jobs of a package that fails at its ${stage} wait in the queue until it works again`, async (t) => {
    const [working, broken] = [await packageFolder(), await packageFolder()];
    const files = {
      'jobs/note.js': job,
      'routes/a.js': asking,
      'migrations/001-kept.sql': `create table acme_kept (org_id uuid not null); call protect_tenant('acme_kept');`,
    };
    await working.add({ name: 'kept', files });
    await broken.add({
      name: 'kept',
      manifest: `start() { throw new Error('broken'); },`,
      files: index ? { ...files, 'index.js': index } : files,
    });
    const first = await startTestPlatform(working.env('kept'));
    const second = await joinTestPlatform(first, { ...broken.env('kept'), LOG_LEVEL: 'silent' });
    const { orgId } = await tenant(first);
    const { token } = await orgUser(first, { orgId });
    // The repository's API document knows nothing of packages.
    t.is((await first.call('POST', '//api/v1/acme-kept', { token })).status, 200);
    t.is((await second.call('POST', '//api/v1/acme-kept', { token })).status, 404);
    const { tasks } = second.platform;
    await runOnce({ pgPool: tasks.work.database.owner, taskList: taskList(tasks), noHandleSignals: true });
    const kept = () => first.sql<{ n: number }>('select count(*)::int as n from acme_kept');
    const queued = () =>
      first.sql<{ attempts: number }>(
        `select attempts from graphile_worker.jobs where task_identifier = 'acme-kept/note'`,
      );
    t.deepEqual(await kept(), [{ n: 0 }]);
    t.deepEqual(await queued(), [{ attempts: 0 }]);
    await first.runJobs();
    t.deepEqual(await kept(), [{ n: 1 }]);
    t.deepEqual(await queued(), []);
    await second.stop();
    await first.stop();
    await Promise.all([working.remove(), broken.remove()]);
  });
}
