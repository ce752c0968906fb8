/** What a database superuser can do to a chain, and how the server and an auditor without one each find it. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import test from 'ava';
import { adoptChain } from '../adopt.ts';
import { checksumOf } from '../chain.ts';
import { sealBatch } from '../sealer.ts';
import { type Problem, verifyChain } from '../verify.ts';
import { openGround, timeOf } from './ground.ts';
import { verifyOffline } from './outsider.ts';

const ground = await openGround();
const { platform, trail, chain, tamper, rewrite, idAt, exported, notes } = ground;
const key = await ground.publicKey();
test.after.always(() => platform.stop());

const at = (owner: string, seq: number) => `owner = '${owner}' and seq = ${seq}`;
const offline = async (owner: string, ...options: string[]) => {
  const file = await exported(owner);
  const answer = await verifyOffline('--key', key, ...options, file);
  await rm(file);
  return answer;
};

test.serial('an untouched chain passes, on the server and outside, and so does each part of it', async (t) => {
  const { orgId, owner } = await chain(600, [100, 257, 600]);
  t.like(await verifyChain(trail, owner), { ok: true, checked: 600, checkpoints: 3, firstBad: null });
  await ground.fill(orgId, 20, 600);
  t.like(await verifyChain(trail, owner), { ok: true, checked: 620, checkpoints: 3 });
  const whole = await offline(owner, '--checkpoint', await notes(owner));
  t.deepEqual(whole, {
    code: 0,
    said: `PASS  ${owner}: rows 1 to 620 are whole; all of them are under a signed checkpoint`,
  });
  const parts = [await exported(owner, 0, 256), await exported(owner, 256, 300), await exported(owner, 300)];
  t.like(await verifyOffline('--key', key, ...parts), { code: 0 });
  const [, middle = ''] = parts;
  t.like(await verifyOffline('--key', key, '--partial', middle), { code: 0 });
  t.regex((await verifyOffline('--key', key, middle)).said, /^FAIL {2}rows 301 to 620 are missing/);
});

/** Each is done to a chain of 300 rows with checkpoints at 100 and 300. */
const attacks: {
  name: string;
  run(owner: string, orgId: string): Promise<unknown>;
  bad: { seq: number; problem: Problem; named?: boolean; size?: number };
  outside: RegExp;
}[] = [
  {
    name: 'a field is edited',
    run: (owner) => tamper(`update audit_logs set action = 'site.create' where ${at(owner, 150)}`),
    bad: { seq: 150, problem: 'altered', named: true },
    outside: /^FAIL {2}row 150 \S+: altered$/,
  },
  {
    name: 'a time is moved by a microsecond',
    run: (owner) => tamper(`update audit_logs set timestamp = timestamp + interval '1 us' where ${at(owner, 1)}`),
    bad: { seq: 1, problem: 'altered', named: true },
    outside: /^FAIL {2}row 1 \S+: altered$/,
  },
  {
    name: 'something deep in the details is edited',
    run: (owner) =>
      tamper(`update audit_logs set details = jsonb_set(details, '{list,1,b}', '2') where ${at(owner, 299)}`),
    bad: { seq: 299, problem: 'altered', named: true },
    outside: /^FAIL {2}row 299 \S+: altered$/,
  },
  {
    name: 'a row is deleted',
    run: (owner) => tamper(`delete from audit_logs where ${at(owner, 150)}`),
    bad: { seq: 151, problem: 'missing before', named: true },
    outside: /^FAIL {2}row 151 \S+: missing before/,
  },
  {
    name: 'the first rows are deleted',
    run: (owner) => tamper(`delete from audit_logs where owner = '${owner}' and seq <= 3`),
    bad: { seq: 4, problem: 'missing before', named: true },
    outside: /^FAIL {2}row 4 \S+: missing before/,
  },
  {
    name: 'the first rows are deleted, and an anchor is put there as if retention had done it',
    run: async (owner) => {
      const [row] = await ground.rowsOf(owner, 3);
      await tamper(`delete from audit_logs where owner = '${owner}' and seq <= 3;
        insert into audit_anchors (owner, seq, checksum, count, frontier, proof)
          select '${owner}', 3, '${row?.checksum}', 3, decode(repeat('00', 64), 'hex'), 'x'`);
    },
    bad: { seq: 3, problem: 'anchor forged' },
    outside: /^FAIL {2}the checkpoint of size 100 is broken|^FAIL {2}the checkpoint of size 300 is broken/,
  },
  {
    name: 'the last row is deleted',
    run: (owner) => tamper(`delete from audit_logs where ${at(owner, 300)}`),
    bad: { seq: 300, problem: 'cut off' },
    outside: /^FAIL {2}rows 300 to 300 are missing/,
  },
  {
    name: 'the last rows are deleted and the head is set back',
    run: async (owner) => {
      const [row] = await ground.rowsOf(owner, 200);
      await tamper(`delete from audit_logs where owner = '${owner}' and seq > 200;
        update audit_heads set seq = 200, checksum = '${row?.checksum}' where owner = '${owner}'`);
    },
    bad: { seq: 200, problem: 'head forged', named: true },
    outside: /^FAIL {2}rows 201 to 300 are missing/,
  },
  {
    name: 'all rows of the chain are deleted',
    run: (owner) => tamper(`delete from audit_logs where owner = '${owner}'`),
    bad: { seq: 1, problem: 'cut off' },
    outside: /^FAIL {2}rows 1 to 300 are missing/,
  },
  {
    name: 'all rows and the head are gone',
    run: (owner) =>
      tamper(`delete from audit_logs where owner = '${owner}'; delete from audit_heads where owner = '${owner}'`),
    bad: { seq: 0, problem: 'cut off', size: 300 },
    outside: /^FAIL {2}rows 1 to 300 are missing/,
  },
  {
    name: 'a row is put behind the end, rightly chained',
    run: (owner) => add(owner, 301),
    bad: { seq: 301, problem: 'added', named: true },
    outside: /^FAIL {2}row 301 and later are under no signed checkpoint$/,
  },
  {
    name: 'a row is put in between, those behind it moved on by one',
    run: (owner) =>
      tamper(`update audit_logs set seq = -seq where owner = '${owner}' and seq > 150;
        update audit_logs set seq = 1 - seq where owner = '${owner}' and seq < 0`).then(() => add(owner, 151)),
    bad: { seq: 152, problem: 'altered', named: true },
    outside: /^FAIL {2}row 152 \S+: altered$/,
  },
  {
    name: 'two rows change places',
    run: (owner) =>
      tamper(`update audit_logs set seq = -1 where ${at(owner, 150)}; update audit_logs set seq = 150 where ${at(owner, 151)};
        update audit_logs set seq = 151 where ${at(owner, -1)}`),
    bad: { seq: 150, problem: 'altered', named: true },
    outside: /^FAIL {2}row 150 \S+: altered$/,
  },
  {
    name: 'a row and all behind it are hashed anew, the head too',
    run: (owner) => rewrite(owner, 150),
    bad: { seq: 150, problem: 'rewritten', named: true, size: 300 },
    outside: /^FAIL {2}the checkpoint of size 300 is broken: a row from 101 to 300 is not the one that was signed$/,
  },
  {
    name: 'a row and all behind it are hashed anew, but not the head',
    run: (owner) => rewrite(owner, 50, false),
    bad: { seq: 50, problem: 'rewritten', named: true, size: 100 },
    outside: /^FAIL {2}the checkpoint of size 100 is broken: a row from 1 to 100 is not the one that was signed$/,
  },
  {
    name: 'a row of another tenant’s chain is shown as this one’s',
    run: async (_, orgId) => {
      const other = await chain(5);
      await tamper(`alter table audit_logs drop constraint audit_logs_owner;
        update audit_logs set org_id = '${orgId}' where ${at(other.owner, 3)};
        alter table audit_logs add constraint audit_logs_owner check (owner <> '') not valid`);
    },
    bad: { seq: 3, problem: 'misplaced', named: true },
    // It does not lie in the chain that is exported.
    outside: /^PASS/,
  },
  {
    name: 'a checkpoint is replaced',
    run: (owner) =>
      platform.sql(
        `update audit_checkpoints set root_hash = decode(repeat('ab', 32), 'hex') where owner = $1 and size = 100`,
        [owner],
      ),
    bad: { seq: 100, problem: 'checkpoint forged', size: 100 },
    outside: /^PASS/,
  },
  {
    name: 'the stored tree is changed',
    run: (owner) =>
      platform.sql(
        `update audit_tiles set hashes = overlay(hashes placing decode(repeat('cd', 32), 'hex') from 1 + 32 * 149)
         where owner = $1 and level = 0 and index = 0`,
        [owner],
      ),
    bad: { seq: 150, problem: 'tree damaged' },
    outside: /^PASS/,
  },
];

/** Puts a row somewhere with a checksum of its own that fits the row before it. */
async function add(owner: string, seq: number): Promise<void> {
  const [before] = await ground.rowsOf(owner, seq - 1);
  if (!before) throw new Error('no row before');
  const { checksum, ...rest } = before;
  const row = { ...rest, id: randomUUID(), seq, resourceName: 'smuggled in', prevChecksum: checksum };
  await tamper(`insert into audit_logs select '${row.id}', owner, ${seq}, org_id, partner_id, timestamp, actor_type, actor_id,
    actor_email, actor_name, action, resource_type, resource_id, 'smuggled in', details, ip_address, user_agent, result,
    error_message, '${checksumOf(row)}', '${checksum}' from audit_logs where id = '${before.id}'`);
}

for (const { name, run, bad, outside } of attacks) {
  test.serial(`found on the server and outside: ${name}`, async (t) => {
    const { owner, orgId } = await chain(300, [100, 300]);
    const kept = await notes(owner);
    await run(owner, orgId);
    const verdict = await verifyChain(trail, owner);
    t.like(verdict, { ok: false, firstBad: { seq: bad.seq, problem: bad.problem } });
    if (bad.named) {
      const [row] = await platform.sql<{ seq: number }>('select seq from audit_logs where id = $1', [
        verdict.firstBad?.id,
      ]);
      t.is(Number(row?.seq), bad.seq);
    }
    t.is(verdict.brokenCheckpoint?.size, bad.size);
    t.regex((await offline(owner, '--checkpoint', kept)).said, outside);
  });
}

test.serial('rows hashed anew before any checkpoint covered them are found by the head', async (t) => {
  const { owner } = await chain(20, []);
  await rewrite(owner, 12);
  const verdict = await verifyChain(trail, owner);
  t.like(verdict, { ok: false, firstBad: { id: await idAt(owner, 20), seq: 20, problem: 'head forged' } });
  t.is((await offline(owner)).said, 'FAIL  row 1 and later are under no signed checkpoint');
  await t.throwsAsync(ground.checkpoint(owner), { name: 'ChainBroken' }, 'and they are not signed');
});

test.serial('without the checkpoints in the database, those kept elsewhere show a rewritten chain', async (t) => {
  const { owner } = await chain(40);
  const kept = await notes(owner);
  await rewrite(owner, 7);
  for (const table of ['checkpoints', 'trees', 'tiles'])
    await platform.sql(`delete from audit_${table} where owner = $1`, [owner]);
  t.like(await verifyChain(trail, owner), { ok: false, firstBad: { problem: 'head forged' } });
  t.regex(
    (await offline(owner, '--checkpoint', kept)).said,
    /^FAIL {2}the checkpoint of size 40 is broken: a row from 1 /,
  );
});

test.serial('a chain that was tampered with is never signed again, and another one’s key signs nothing', async (t) => {
  const { owner, orgId } = await chain(30);
  await tamper(`update audit_logs set action = 'x' where ${at(owner, 30)}`);
  await ground.fill(orgId, 5, 30);
  await t.notThrowsAsync(ground.checkpoint(owner), 'row 30 was signed as it was; what follows it is chained to that');
  await tamper(`update audit_logs set action = 'x' where ${at(owner, 35)}`);
  await ground.fill(orgId, 5, 35);
  const other = await chain(3);
  await platform.sql(
    `update audit_signing_keys set public_key = decode(repeat('11', 32), 'hex') where retired_at is null`,
  );
  await ground.fill(other.orgId, 1, 3);
  await t.throwsAsync(ground.checkpoint(other.owner), { message: /missing or forged|tampered with/ });
  t.like(await verifyChain(trail, other.owner), { ok: false, firstBad: { problem: 'checkpoint forged' } });
  await platform.sql(`update audit_signing_keys set public_key = decode($1, 'base64')`, [
    Buffer.from(key.split(/\+[0-9a-f]{8}\+/)[1] ?? '', 'base64')
      .subarray(1)
      .toString('base64'),
  ]);
  t.true((await verifyChain(trail, other.owner)).ok);
});

test.serial('sealing goes on behind rows that somebody put there, and the chain stays marked', async (t) => {
  const { owner, orgId } = await chain(10);
  await add(owner, 11);
  await ground.fill(orgId, 3, 11);
  const rows = await ground.rowsOf(owner);
  t.is(rows.length, 14);
  t.like(await verifyChain(trail, owner), { ok: false, firstBad: { seq: 10, problem: 'head forged' } });
  await t.throwsAsync(ground.checkpoint(owner), { name: 'ChainBroken' });
});

test.serial('sealing goes on where the head was taken away or set back, and the chain stays marked', async (t) => {
  const [gone, back] = [await chain(10), await chain(10)];
  await platform.sql('delete from audit_heads where owner = $1', [gone.owner]);
  const [fifth] = await ground.rowsOf(back.owner, 5);
  await tamper(`delete from audit_logs where owner = '${back.owner}' and seq > 5;
    update audit_heads set seq = 5, checksum = '${fifth?.checksum}' where owner = '${back.owner}'`);
  for (const { owner, orgId } of [gone, back]) {
    await ground.fill(orgId, 2, 10);
    t.like(await verifyChain(trail, owner), { ok: false });
  }
  t.like((await verifyChain(trail, gone.owner)).firstBad, { seq: 10, problem: 'head forged' });
  t.is((await ground.rowsOf(gone.owner)).length, 12);
});

test.serial('the operator adopts a chain whose keys changed; rows that do not fit stay faults', async (t) => {
  const { owner } = await chain(10);
  await platform.sql(`update audit_heads set proof = 'made with another key' where owner = $1`, [owner]);
  t.like(await verifyChain(trail, owner), { ok: false, firstBad: { problem: 'head forged' } });
  t.like(await ground.inTransaction((own) => adoptChain(own, owner)), { ok: true, checked: 10 });
  t.true((await verifyChain(trail, owner)).ok);
  await tamper(`update audit_logs set action = 'x' where ${at(owner, 4)}`);
  t.like(await ground.inTransaction((own) => adoptChain(own, owner)), { firstBad: { seq: 4, problem: 'altered' } });
});

test.serial('between two times the rows and a neighbour on each side are recomputed', async (t) => {
  const { owner } = await chain(60, [30, 60]);
  const between = (from: number, to: number) => verifyChain(trail, owner, { from: timeOf(from), to: timeOf(to) });
  t.like(await between(20, 40), { ok: true, checked: 23, checkpoints: 2 });
  t.like(await between(50, 99), { ok: true, checked: 12 });
  t.like(await verifyChain(trail, owner, { to: timeOf(5) }), { ok: true, checked: 6 });
  t.like(await between(70, 80), { ok: true, checked: 2 });
  await tamper(`update audit_logs set action = 'x' where ${at(owner, 45)}`);
  t.like(await between(20, 40), { ok: true });
  t.like(await between(20, 44), { ok: false, firstBad: { seq: 45, problem: 'altered' } });
});

test.serial(
  'between two times, rows taken away or moved out of them at an edge show in their neighbours',
  async (t) => {
    const [first, last, all, moved, rewritten] = await Promise.all([0, 0, 0, 0, 0].map(() => chain(30)));
    if (!first || !last || !all || !moved || !rewritten) return t.fail();
    const between = (owner: string) => verifyChain(trail, owner, { from: timeOf(10), to: timeOf(20) });
    await tamper(`delete from audit_logs where ${at(first.owner, 10)}`);
    t.like(await between(first.owner), { firstBad: { seq: 11, problem: 'missing before' } });
    await tamper(`delete from audit_logs where ${at(last.owner, 20)}`);
    t.like(await between(last.owner), { firstBad: { seq: 21, problem: 'missing before' } });
    await tamper(`delete from audit_logs where owner = '${all.owner}' and seq between 10 and 20`);
    t.like(await between(all.owner), { firstBad: { seq: 21, problem: 'missing before' } });
    await tamper(`update audit_logs set timestamp = '2020-01-01' where ${at(moved.owner, 20)}`);
    t.like(await between(moved.owner), { firstBad: { seq: 20, problem: 'altered' } });
    await rewrite(rewritten.owner, 15);
    t.like(await between(rewritten.owner), {
      firstBad: { seq: 15, problem: 'rewritten' },
      brokenCheckpoint: { size: 30 },
    });
  },
);

test.serial('a batch that meets a lock of another process seals nothing and does no harm', async (t) => {
  const { owner, orgId } = await chain(3);
  const client = await ground.pool.connect();
  await client.query('begin; select pg_advisory_xact_lock(7203412, shard) from generate_series(0, 15) shard');
  const options = { pool: ground.pool, mac: trail.mac, log: platform.platform.tasks.log };
  const counts = await Promise.all(Array.from({ length: 16 }, (_, shard) => sealBatch(options, shard)));
  t.deepEqual(new Set(counts), new Set([0]));
  await client.query('commit');
  client.release();
  await ground.fill(orgId, 1, 3);
  t.like(await verifyChain(trail, owner), { ok: true, checked: 4 });
});

test.serial('the whole table is truncated: every chain says so, on the server and outside', async (t) => {
  const chains = [await chain(20), await chain(5)];
  const kept = await Promise.all(chains.map(async ({ owner }) => ({ owner, file: await notes(owner) })));
  await platform.sql(`alter table audit_logs disable trigger audit_logs_no_truncate; truncate audit_logs;
    alter table audit_logs enable always trigger audit_logs_no_truncate`);
  for (const { owner, file } of kept) {
    t.like(await verifyChain(trail, owner), { ok: false, firstBad: { seq: 1, problem: 'cut off' } });
    t.regex((await offline(owner, '--checkpoint', file)).said, /^FAIL {2}rows 1 to \d+ are missing/);
  }
});
