/** The chain: sealed once, in order, by several sealers at a time, and nothing may touch it afterwards. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { storable } from '#core/work';
import { startTestPlatform, tenant } from '#test';
import { EVERYWHERE, NOBODY } from '../../context/index.ts';
import { createLog } from '../../log.ts';
import { checksumOf, extendChain } from '../chain.ts';
import { auditRow } from '../record.ts';
import { sealBatch } from '../sealer.ts';
import type { Trail } from '../trail.ts';
import { verifyChain } from '../verify.ts';

const platform = await startTestPlatform();
const { database, services } = platform.platform.tasks.work;
const pool = database.platform;
const trail: Trail = { mac: services.mac, seal: services.seal, query: (text, values) => pool.query(text, values) };
const sealing = { pool, mac: services.mac, log: createLog('silent') };
const seal = async () => {
  const counts = await Promise.all(Array.from({ length: 16 }, (_, shard) => sealBatch(sealing, shard)));
  return counts.reduce((sum, count) => sum + count, 0);
};
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
  await Promise.all(Array.from({ length: 6 }, seal));
  await platform.platform.settle();
  for (const [owner, count] of [
    [one, 1400],
    [two, 1500],
  ] as const) {
    const verdict = await verifyChain(trail, `org:${owner.orgId}`);
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
  await client.query('begin; select pg_advisory_xact_lock(7203412, shard) from generate_series(0, 15) shard');
  await client.query('delete from audit_outbox');
  const ended = new Promise((resolve) => client.once('end', resolve));
  await platform.sql('select pg_terminate_backend($1)', [(client as unknown as { processID: number }).processID]);
  await ended;
  client.release(true);
  await platform.platform.settle();
  t.like(await verifyChain(trail, `org:${orgId}`), { ok: true, checked: 5 });
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
  const { app } = database;
  await t.throwsAsync(app.query(`insert into audit_logs (id, owner) select id, owner from audit_logs`), {
    message: /permission denied/,
  });
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
  const verdict = await verifyChain(trail, `org:${orgId}`);
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
  await platform.platform.settle();
  const { checked } = await verifyChain(trail, 'platform');
  await platform.sql('select flush_effects($1::jsonb)', [storable({ audits: [row(null, 1)] })]);
  await platform.platform.settle();
  t.like(await verifyChain(trail, 'platform'), { ok: true, checked: checked + 1 });
});

test.serial(
  'no entry can stop the sealer: what columns do not take is cut or put right, and the chain verifies',
  async (t) => {
    const { orgId, partnerId } = await tenant(platform);
    const good = { ...row(orgId, 1), partnerId };
    const audits = [
      good,
      {
        ...good,
        orgId: orgId.toUpperCase(),
        actorId: randomUUID().toUpperCase(),
        resourceId: randomUUID().toUpperCase(),
      },
      {
        ...good,
        action: 'a'.repeat(300),
        actorEmail: '😀'.repeat(300),
        actorName: 'n'.repeat(300),
        resourceName: 'r'.repeat(999),
      },
      { ...good, resourceType: 't'.repeat(99), ipAddress: '1'.repeat(99), userAgent: 'u'.repeat(99_999) },
      { ...good, actorType: 'ghost', result: 'maybe', at: 'yesterday', actorId: 'nobody', details: ['a list'] },
      { orgId, action: 'bare' },
      {
        ...good,
        details: { big: 1e300, small: 5e-324, whole: 12345678901234567000, text: '\u2028 "', ['__proto__']: 1 },
      },
    ];
    await platform.sql('select flush_effects($1::jsonb)', [storable({ audits })]);
    await platform.platform.settle();
    t.like(await verifyChain(trail, `org:${orgId}`), { ok: true, checked: audits.length });
    const [ghost] = await platform.sql(
      'select actor_type, result, actor_id, details from audit_logs where org_id = $1 and seq = 5',
      [orgId],
    );
    t.deepEqual(ghost, {
      actor_type: 'system',
      result: 'failure',
      actor_id: '00000000-0000-0000-0000-000000000000',
      details: { value: ['a list'] },
    });
  },
);

test.serial('a batch that fails leaves every entry in the outbox, and its retry seals each once', async (t) => {
  const { orgId } = await tenant(platform);
  await platform.sql(`alter table audit_heads add constraint broken check (owner <> 'org:${orgId}')`);
  await fill(orgId, 20);
  await t.throwsAsync(platform.platform.settle(), { message: /broken/ });
  const [waiting] = await platform.sql('select count(*)::int as n from audit_outbox where org_id = $1', [orgId]);
  t.is(waiting?.n, 20);
  await platform.sql('alter table audit_heads drop constraint broken');
  await platform.platform.settle();
  t.like(await verifyChain(trail, `org:${orgId}`), { ok: true, checked: 20 });
});
