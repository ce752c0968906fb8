/** Health rules: each sees what it is for, levels change only when it lasts, and people are told once. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Context } from '#core';
import { runUnitOfWork } from '#core/work';
import { EVERYWHERE, NOBODY } from '../../../../core/context/index.ts';
import { judgeHealth } from '../services/watching/health.ts';
import { findings } from '../services/watching/rules.ts';
import { takeSnapshot } from '../services/watching/snapshots.ts';
import { openGround } from './ground.ts';

const ground = await openGround();
const { platform, admin, call, add, hold, node, clear } = ground;
test.after.always(() => platform.stop());
test.beforeEach(async () => {
  await clear();
  await platform.sql('delete from queue_snapshots');
  await platform.sql('delete from job_stats_minute');
});

const { work, log } = platform.platform.tasks;
const asPlatform = <T>(run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);
const seen = async () =>
  (await asPlatform(findings)).map(({ rule, subject, level }) => `${rule} ${subject} ${level}`.replace('  ', ' '));
const TASK = 'audit/plan-retention';
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);
const snapshot = () => asPlatform((ctx) => takeSnapshot(ctx, 2));

test.serial('a healthy queue has no findings', async (t) => {
  await node('alive:1:00000000');
  await snapshot();
  t.deepEqual(await seen(), []);
});

test.serial(
  'the oldest ready job: a minute is a warning, ten are critical, and ten seconds where somebody waits',
  async (t) => {
    await node('alive:1:00000000');
    await add(TASK, {}, { runAt: ago(90) });
    await add('identity/send-code', await payloadOf('identity/send-code'), { runAt: ago(20) });
    await add('users/sweep-invitations', {}, { runAt: ago(20) });
    await add('sso/sweep-expired', {}, { runAt: ago(700) });
    await snapshot();
    t.deepEqual((await seen()).sort(), [
      `oldest_ready ${TASK} warn`,
      'oldest_ready identity/send-code warn',
      'oldest_ready sso/sweep-expired critical',
    ]);
  },
);

async function payloadOf(task: string): Promise<object> {
  const { sampleOf } = await import('../../../../test/contract/fixtures/sample.ts');
  const known = platform.platform.tasks.registry.jobs.get(task);
  return known ? (sampleOf(known.job.payload) as object) : {};
}

test.serial('more than 20 final failures of a task in ten minutes are a warning', async (t) => {
  await node('alive:1:00000000');
  await snapshot();
  const fail = (n: number) =>
    platform.sql(
      `insert into job_stats_minute select date_trunc('minute', now()), $1, 'x', $2, 0, 0, $2, 0, 0, 0, 0, array[1], array[1]
       on conflict (minute, task, node_id) do update set failed = excluded.failed`,
      [TASK, n],
    );
  await fail(20);
  t.deepEqual(await seen(), []);
  await fail(21);
  t.deepEqual(await seen(), [`failures ${TASK} warn`]);
});

test.serial('no heartbeat for a minute is critical, and hides the schedules that are late because of it', async (t) => {
  await node('alive:1:00000000', { ago: '61 seconds' });
  await snapshot();
  await platform.sql(
    `insert into cron_status (identifier, last_run) values ('audit/write-checkpoints', now() - interval '1 hour')`,
  );
  t.deepEqual(await seen(), ['no_worker critical']);
  await node('alive:1:00000000');
  t.deepEqual(await seen(), ['cron_late audit/write-checkpoints warn']);
  const { body } = await platform.call<{ jobs?: string }>('GET', '//health');
  t.true(['ok', 'degraded', undefined].includes(body.jobs));
  t.is((await platform.call('GET', '//health/ready')).status, 200);
});

test.serial('an audit outbox a minute behind is critical, stuck jobs and a blind clock are warnings', async (t) => {
  await node('alive:1:00000000');
  await hold(await add(TASK, {}), 'pool-dead:1:00000000');
  await snapshot();
  t.deepEqual(await seen(), ['stuck warn']);
  await platform.sql(`update queue_snapshots set at = now() - interval '3 minutes', stuck = 0`);
  t.deepEqual(await seen(), ['snapshot warn']);
  await platform.sql('delete from queue_snapshots');
  await snapshot();
  // The sealer takes what it finds: the entry and the look at it are one transaction.
  const late = await asPlatform(async (ctx) => {
    await ctx.sql(`insert into audit_outbox (entry) values (json_build_object('at', now() - interval '90 seconds'))`);
    const found = await findings(ctx);
    await ctx.sql('delete from audit_outbox');
    return found.map(({ rule, level }) => `${rule} ${level}`);
  });
  t.true(late.includes('outbox critical'));
});

interface Standing {
  level: string;
  problems: { rule: string; subject: string; level: string }[];
}
const standing = async () => (await call<{ health: Standing }>('GET', '/overview')).body.health;
/** A round of the rules, as if so much time had passed since the last one. */
async function round(seconds: number) {
  await platform.sql(`update queue_health set seen_since = seen_since - make_interval(secs => $1)`, [seconds]);
  return asPlatform((ctx) => judgeHealth(ctx));
}

test.serial(
  'a level changes when the rule has seen the same twice, and goes back only after two good minutes',
  async (t) => {
    await node('alive:1:00000000');
    await add(TASK, {}, { runAt: ago(90) });
    await snapshot();
    t.deepEqual(await round(0), [], 'seen once');
    t.is((await standing()).level, 'ok');
    t.deepEqual(await round(10), [], 'not so soon: another process has just judged');
    const [raised] = await round(60);
    t.like(raised, { rule: 'oldest_ready', subject: TASK, before: 'ok', level: 'warn' });
    t.like((await standing()).problems[0], { rule: 'oldest_ready', subject: TASK, level: 'warn' });
    t.deepEqual(await round(60), [], 'told once');
    await platform.sql('delete from queue_snapshots');
    await snapshot();
    await platform.sql(`update queue_snapshots set oldest_ready_at = null`);
    t.deepEqual(await round(60), [], 'good for the first time');
    t.deepEqual(await round(60), [], 'for a minute');
    const [cleared] = await round(60);
    t.like(cleared, { before: 'warn', level: 'ok' });
    t.is((await standing()).level, 'ok');
    const told = await platform.sql<{ data: object }>(
      `select data from events where name = 'queue.health.changed' order by occurred_at`,
    );
    t.is(told.length, 2);
    await platform.runJobs();
    const folder = join(platform.dataDir, 'mail');
    const mails = await Promise.all((await readdir(folder)).map((file) => readFile(join(folder, file), 'utf8')));
    t.is(mails.filter((mail) => mail.includes(admin.email)).length, 2);
    t.true(mails.some((mail) => /\[warn\] Jobs wait too long/.test(mail)));
  },
);
