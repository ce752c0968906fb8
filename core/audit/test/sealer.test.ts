/** The chain: sealed once, in order, by several sealers at a time, and nothing may touch it afterwards. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { EVERYWHERE, NOBODY, storable } from '../../work.ts';
import { checksumOf, extendChain } from '../chain.ts';
import { auditRow } from '../record.ts';
import { sealBatch } from '../sealer.ts';
import { verifyChain } from '../verify.ts';

const platform = await startTestPlatform();
const pool = platform.platform.tasks.work.database.platform;
test.after.always(() => platform.stop());

const row = (orgId: string | null, n: number, text = 'ü') =>
  auditRow({ ...NOBODY, kind: 'user', id: randomUUID() }, EVERYWHERE, 'site.update', {
    orgId,
    details: { n, text, list: [1.5, { b: 1, a: null }] },
  });
const fill = async (orgId: string, count: number) => {
  const audits = Array.from({ length: count }, (_, n) => row(orgId, n, 'NUL \u0000 and half a pair \ud800'));
  await platform.sql('select flush_effects($1::jsonb)', [storable({ audits })]);
};

test.serial('entries become one unbroken chain per owner, however many seal at once', async (t) => {
  const [one, two] = await Promise.all([tenant(platform), tenant(platform)]);
  await Promise.all([fill(one.orgId, 700), fill(two.orgId, 1500), fill(one.orgId, 700)]);
  await Promise.all(Array.from({ length: 6 }, () => sealBatch(pool)));
  await platform.platform.settle();
  for (const [owner, count] of [
    [one, 1400],
    [two, 1500],
  ] as const) {
    const verdict = await verifyChain(pool, `org:${owner.orgId}`);
    t.like(verdict, { ok: true, checked: count });
    const [seen] = await platform.sql(
      'select count(*)::int as rows, count(distinct seq)::int as places, max(seq)::int as last from audit_logs where org_id = $1',
      [owner.orgId],
    );
    t.deepEqual(seen, { rows: count, places: count, last: count });
  }
});

test.serial('a sealer that dies before its commit changes nothing', async (t) => {
  const { orgId } = await tenant(platform);
  await fill(orgId, 5);
  const client = await pool.connect();
  await client.query('begin; select pg_advisory_xact_lock(7203412)');
  await client.query('delete from audit_outbox');
  const ended = new Promise((resolve) => client.once('end', resolve));
  await platform.sql('select pg_terminate_backend($1)', [(client as unknown as { processID: number }).processID]);
  await ended;
  client.release(true);
  await platform.platform.settle();
  t.like(await verifyChain(pool, `org:${orgId}`), { ok: true, checked: 5 });
});

test.serial('update, delete and truncate are refused, to the database’s superuser too', async (t) => {
  const { orgId } = await tenant(platform);
  await fill(orgId, 1);
  await platform.platform.settle();
  for (const statement of [
    `update audit_logs set action = 'x'`,
    'delete from audit_logs',
    'truncate audit_logs',
    `set session_replication_role = replica; delete from audit_logs`,
  ]) {
    const error = await t.throwsAsync(platform.sql(statement), undefined, statement);
    t.regex(error?.message ?? '', /append-only/, statement);
  }
  const { app } = platform.platform.tasks.work.database;
  await t.throwsAsync(app.query(`insert into audit_logs select * from audit_logs`), { message: /permission denied/ });
  await t.throwsAsync(pool.query('delete from audit_logs'), { message: /permission denied/ });
});

test.serial('a row changed behind the database’s back is named', async (t) => {
  const { orgId } = await tenant(platform);
  await fill(orgId, 10);
  await platform.platform.settle();
  await platform.sql(
    `begin; alter table audit_logs disable trigger all; update audit_logs set action = 'site.create' where org_id = '${orgId}' and seq = 7;
     alter table audit_logs enable always trigger audit_logs_append_only; alter table audit_logs enable always trigger audit_logs_no_truncate; commit`,
  );
  const verdict = await verifyChain(pool, `org:${orgId}`);
  t.like(verdict, { ok: false, firstBad: { seq: 7, problem: 'altered' } });
});

test.serial('the checksum covers every field and the row before', (t) => {
  const [first, second] = extendChain({ seq: 0, checksum: null }, [
    { ...row(null, 1), id: randomUUID() },
    { ...row(null, 2), id: randomUUID() },
  ]);
  t.is(second?.prevChecksum, first?.checksum);
  if (!first) return t.fail();
  for (const key of Object.keys(first).filter((name) => name !== 'checksum')) {
    t.not(checksumOf({ ...first, [key]: 'other' }), first.checksum, key);
  }
});

test.serial('an entry without organization or partner belongs to the platform', async (t) => {
  await platform.sql('select flush_effects($1::jsonb)', [storable({ audits: [row(null, 1)] })]);
  await platform.platform.settle();
  t.like(await verifyChain(pool, 'platform'), { ok: true, checked: 1 });
});
