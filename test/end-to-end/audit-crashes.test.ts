/** The audit trail under kill -9: writers on two APIs and beside them, while every process dies again and again. */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { call, createTestDatabase, freePort } from '#test';
import { launch, type Running, until } from './process.ts';

const KILLS = 10;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('every committed change has exactly one entry, no undone one has any, and all chains verify', async (t) => {
  t.timeout(900_000);
  const database = await createTestDatabase({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-crashes-'));
  const env = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '5',
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    ENABLE_2FA: 'false',
    LOG_LEVEL: 'warn',
    JWT_SECRET: 'j'.repeat(40),
    APP_ENCRYPTION_KEY: 'e'.repeat(40),
    // Most of what twenty starts cost is reading the same files again.
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
  };
  const start = (more: Record<string, string>) =>
    launch('app/quartermaster.ts', ['start'], { ...env, ...more }, /is ready/);
  const ports = [await freePort(), await freePort()];
  const roles = [
    ...ports.map((port) => ({ ROLE: 'api', PORT: String(port) })),
    ...[1, 2].map(() => ({ ROLE: 'worker', WORKER_CONCURRENCY: '2' })),
  ];
  const sql = new pg.Pool({ connectionString: database.url, max: 6 });
  sql.on('connect', (client) => client.on('error', () => undefined));
  const one = async (text: string, values: unknown[] = []) => (await sql.query(text, values)).rows[0];
  const running: Running[] = [];

  try {
    // The first start migrates, and leaves its compiled files to the others.
    t.is(await (await start(roles[2] ?? {})).stop(), 0);
    running.push(...(await Promise.all(roles.map(start))));
    const [a = '', b = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
    const registered = await call<{ tokens: { accessToken: string } }>(a, 'POST', '/auth/register-partner', {
      body: {
        companyName: 'Acme MSP',
        name: 'Ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
        acceptTerms: true,
      },
    });
    t.is(registered.status, 201);
    const token = registered.body.tokens.accessToken;
    const orgs = await Promise.all(
      ['one', 'two', 'three'].map(async (slug) => {
        const made = await call<{ id: string }>(b, 'POST', '/orgs/organizations', {
          token,
          body: { name: slug, slug },
        });
        return made.body.id;
      }),
    );

    let over = false;
    const answered = new Set<string>();
    const throughApi = async (base: string) => {
      while (!over) {
        const body = { orgId: orgs[randomInt(orgs.length)], name: `Site ${randomUUID()}` };
        // Whoever is killed while it answers may have committed or not: only the database knows.
        const made = await call<{ id: string }>(base, 'POST', '/orgs/sites', { token, body }).catch(() => null);
        if (made?.status === 201) answered.add(made.body.id);
        else await pause(50);
      }
    };
    // Beside the APIs, straight in the database: committed, rolled back, and lost with its connection.
    const undone = new Set<string>();
    const throughSql = async () => {
      for (let turn = 0; !over; turn++) {
        const id = randomUUID();
        const orgId = orgs[randomInt(orgs.length)];
        const entry = { orgId, at: new Date().toISOString(), actorType: 'system', action: 'site.create' };
        const audits = [{ ...entry, resourceType: 'site', resourceId: id, details: {}, result: 'success' }];
        const client = await sql.connect();
        await client.query('begin');
        await client.query('insert into sites (id, org_id, name) values ($1, $2, $3)', [id, orgId, `Site ${id}`]);
        await client.query('select flush_effects($1::jsonb)', [JSON.stringify({ audits })]);
        if (turn % 3 === 0) await client.query('commit');
        else undone.add(id);
        if (turn % 3 === 1) await client.query('rollback');
        client.release(turn % 3 === 2);
        await pause(5);
      }
    };
    const writing = Promise.all([a, a, b, b].map(throughApi).concat(throughSql(), throughSql()));

    // One of the APIs and one of the workers is always about to die: in turn, at any moment, the other one working on.
    let kills = 0;
    const killer = async (first: number) => {
      for (let turn = 0; turn < KILLS; turn++) {
        const index = first + (turn % 2);
        await pause(randomInt(50, 800));
        await running[index]?.kill();
        kills += 1;
        running[index] = await start(roles[index] ?? {});
      }
    };
    await Promise.all([killer(0), killer(2)]);
    over = true;
    await writing;
    t.true(kills >= 20);
    await until('the outbox is sealed', async () => (await one('select count(*)::int as n from audit_outbox')).n === 0);

    const seen = await one(
      `select count(*)::int as entries, count(distinct l.resource_id)::int as distinct_ids,
         count(*) filter (where s.id is null)::int as without_site,
         count(*) filter (where l.resource_id = any($1::uuid[]))::int as undone, (select count(*)::int from sites) as sites
       from audit_logs l left join sites s on s.id = l.resource_id where l.action = 'site.create' and l.result = 'success'`,
      [[...undone]],
    );
    const { sites } = seen;
    t.deepEqual(seen, { entries: sites, distinct_ids: sites, without_site: 0, undone: 0, sites });
    const lost = await one(
      'select count(*)::int as n from unnest($1::uuid[]) a (site) where not exists (select from audit_logs l where l.resource_id = site)',
      [[...answered]],
    );
    t.is(lost.n, 0, 'no answer was given for a change without an entry');
    t.true(answered.size > 100 && undone.size > 50, `${answered.size} answered, ${undone.size} undone`);

    // Every chain, by the command, and one of them outside.
    const command = (...args: string[]) => launch('app/quartermaster.ts', ['audit', ...args], env, null);
    const verified = (await command('verify')).output();
    // The organizations, their partner, and the installation.
    t.is(verified.match(/PASS/g)?.length, orgs.length + 2, verified);
    t.notRegex(verified, /FAIL/);
    const file = join(folder, 'export.ndjson');
    await command('export', '--owner', `org:${orgs[0]}`, '--out', file);
    const key = (await command('public-key')).output().trim();
    const outside = await launch('app/audit/verify-audit.mjs', ['--key', key, file], {}, null);
    t.regex(outside.output(), /^PASS .* all of them are under a signed checkpoint/);
    for (const process of running) t.is(await process.stop(), 0, process.output());
    running.length = 0;
  } finally {
    for (const process of running) await process.kill();
    await sql.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
