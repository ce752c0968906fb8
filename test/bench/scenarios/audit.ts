/** Sealing the audit trail against moving the same rows bare, and how soon an entry shows in the list under 500 writes a second. */
import { randomUUID } from 'node:crypto';
import { startSealer } from '../../../core/audit/sealer.ts';
import { createMac } from '../../../core/auth/opaque-tokens.ts';
import { openDatabase } from '../../../core/database/pools.ts';
import { createLog } from '../../../core/log.ts';
import { type Ground, startProcess } from '../ground.ts';
import { request } from '../request.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const ENTRIES = 10_000;
const OWNERS = 50;
const WRITES = 500;
const LANES = 16;

const entry = (orgId: string, n: number) => ({
  orgId,
  partnerId: null,
  at: new Date().toISOString(),
  actorType: 'user',
  actorId: randomUUID(),
  actorEmail: 'someone@example.com',
  actorName: 'Some One',
  action: 'site.update',
  resourceType: 'site',
  resourceId: randomUUID(),
  resourceName: 'Main street',
  details: { changedFields: ['name', 'timezone'], before: { name: `Site ${n}` }, after: { name: `Site ${n + 1}` } },
  ipAddress: '192.0.2.1',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
  result: 'success',
  errorMessage: null,
});

/** What sealing costs without the chain: the rows leave the outbox and enter a table like the log, a thousand at a time. */
const MOVE = `with gone as (delete from audit_outbox where id = any(array(select id from audit_outbox order by id limit 1000))
    returning id, entry as r)
  insert into bench_log select gen_random_uuid(), 'bench', id, (r ->> 'orgId')::uuid, (r ->> 'partnerId')::uuid,
    (r ->> 'at')::timestamptz, r ->> 'actorType', (r ->> 'actorId')::uuid, r ->> 'actorEmail', r ->> 'actorName',
    r ->> 'action', r ->> 'resourceType', (r ->> 'resourceId')::uuid, r ->> 'resourceName', r -> 'details',
    r ->> 'ipAddress', r ->> 'userAgent', r ->> 'result', r ->> 'errorMessage', repeat('0', 64), repeat('0', 64) from gone`;

async function sealing(ground: Ground, owners: number) {
  const database = openDatabase({ url: ground.databaseUrl, poolSize: 4, onError: () => undefined });
  const orgs = Array.from({ length: owners }, () => randomUUID());
  const fill = async () => {
    for (let n = 0; n < ENTRIES; n += 1000) {
      const audits = Array.from({ length: 1000 }, (_, m) => entry(orgs[(n + m) % owners] ?? '', n + m));
      await database.platform.query('select flush_effects($1::jsonb)', [JSON.stringify({ audits })]);
    }
  };
  const perSecond = async (work: () => Promise<unknown>) => {
    const begin = performance.now();
    await work();
    return (ENTRIES * 1000) / (performance.now() - begin);
  };
  const options = { pool: database.platform, mac: createMac('b'.repeat(32)), log: createLog('error') };
  const figures = await inTurns(
    3,
    async () => {
      await fill();
      return perSecond(async () => {
        const sealer = startSealer(options);
        await sealer.drain();
        await sealer.stop();
      });
    },
    async () => {
      await ground.sql(
        'create table if not exists bench_log (like audit_logs including indexes including identity including generated)',
      );
      await fill();
      return perSecond(async () => {
        while ((await database.owner.query(MOVE)).rowCount === 1000);
      });
    },
  );
  await database.close();
  return figures;
}

/** Milliseconds from the answer to a change until its entry is in the list, while others write 500 a second. */
async function visibility(ground: Ground) {
  const base = await ground.api();
  const { partner, orgId } = await ground.tenant();
  const worker = await startProcess(
    'app/quartermaster.ts start',
    {
      DATABASE_URL: ground.databaseUrl,
      DATA_DIR: ground.dataDir,
      ROLE: 'worker',
      LOG_LEVEL: 'warn',
      NODE_ENV: 'production',
      JWT_SECRET: ground.secrets.jwtSecret,
      APP_ENCRYPTION_KEY: ground.secrets.encryptionKey,
    },
    /is ready/,
  );
  const sites = await ground.sql<{ id: string }>(
    `insert into sites (org_id, name) select $1, 'Audit ' || n from generate_series(0, $2) n returning id`,
    [orgId, LANES],
  );
  const headers = { authorization: `Bearer ${partner.token}`, 'content-type': 'application/json' };
  const client = request(base, LANES + 2);
  const rename = (site: number, name: string) =>
    client.send('PATCH', `/api/v1/orgs/sites/${sites[site]?.id}`, headers, JSON.stringify({ name }));
  const begin = performance.now();
  const end = begin + ground.seconds * 2000;
  let written = 0;
  let sent = 0;
  const writers = Array.from({ length: LANES }, async (_, lane) => {
    while (performance.now() < end) {
      // Each lane takes the next write when it is due, so that together they keep the rate.
      const due = begin + (sent++ * 1000) / WRITES;
      const wait = due - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if ((await rename(lane, `Audit ${sent}`)) === 200) written += 1;
    }
  });
  const delays: number[] = [];
  while (performance.now() < end) {
    const name = `Marked ${randomUUID()}`;
    await rename(LANES, name);
    const from = performance.now();
    for (let seen = false; !seen; ) {
      const answer = await fetch(
        `${base}/api/v1/audit-logs/logs?skipCount=true&limit=1&resource=${encodeURIComponent(name)}`,
        {
          headers,
        },
      );
      seen = ((await answer.json()) as { data: unknown[] }).data.length === 1;
      if (!seen) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    delays.push(performance.now() - from);
  }
  await Promise.all(writers);
  const seconds = (performance.now() - begin) / 1000;
  await client.close();
  worker.child.kill('SIGTERM');
  await new Promise((resolve) => worker.child.once('exit', resolve));
  delays.sort((a, b) => a - b);
  const at = (share: number) => rounded(delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0);
  return { perSecond: rounded(written / seconds), p50: at(0.5), max: at(1) };
}

export const scenario: Scenario = {
  title: `sealing ${ENTRIES} entries, entries a second, against moving them bare; then the way to the list at ${WRITES} writes a second`,
  async run(ground) {
    const spread = await sealing(ground, OWNERS);
    const single = await sealing(ground, 1);
    const seen = await visibility(ground);
    return {
      [`${OWNERS} owners, sealed`]: spread.ours,
      [`${OWNERS} owners, bare`]: spread.bare,
      [`${OWNERS} owners, ratio`]: spread.ratio,
      'one owner, sealed': single.ours,
      'one owner, bare': single.bare,
      'one owner, ratio': single.ratio,
      'writes a second meanwhile': seen.perSecond,
      'until listed, p50 ms': seen.p50,
      'until listed, max ms': seen.max,
    };
  },
};
