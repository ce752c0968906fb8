/** Commands under kill -9: the APIs, the worker and the agents die at random while two hundred commands go through. */
import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { call, createTestDatabase, freePort } from '#test';
import { launch, type Running, until } from './process.ts';

const COMMANDS = 200;
const AGENTS = 3;
const LEAST_KILLS = 6;
/** In turn: agents by their number, then the API that agents hold on to, the one that orders come to, and the worker. */
const VICTIMS = [0, AGENTS, 1, AGENTS + 1, 2, AGENTS + 2, 1, AGENTS];
const AGENT = 'agent/src/main.ts';
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('each command ends in exactly one terminal state, its result is stored once, and none ran twice', async (t) => {
  t.timeout(600_000);
  const database = await createTestDatabase({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-commands-'));
  const compiled = { NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const env = {
    ...compiled,
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '5',
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    ENABLE_2FA: 'false',
    LOG_LEVEL: 'warn',
    JWT_SECRET: 'j'.repeat(40),
    APP_ENCRYPTION_KEY: 'e'.repeat(40),
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
  };
  const ports = [await freePort(), await freePort()];
  const roles = [
    ...ports.map((port) => ({ ROLE: 'api', PORT: String(port) })),
    { ROLE: 'worker', WORKER_CONCURRENCY: '2' },
  ];
  const start = (more: Record<string, string>) =>
    launch('app/quartermaster.ts', ['start'], { ...env, ...more }, /is ready/);
  const [a = '', b = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
  const sql = new pg.Pool({ connectionString: database.url, max: 3 });
  sql.on('connect', (client) => client.on('error', () => undefined));
  const state = (n: number) => join(folder, `agent-${n}.json`);
  const running: Running[] = [];
  const agents: Running[] = [];
  const ran = join(folder, 'ran.txt');
  try {
    running.push(await start(roles[0] ?? {}));
    running.push(...(await Promise.all(roles.slice(1).map(start))));
    const registered = await call<{ tokens: { accessToken: string } }>(b, 'POST', '/auth/register-partner', {
      body: {
        companyName: 'Acme MSP',
        name: 'Ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
        acceptTerms: true,
      },
    });
    const token = registered.body.tokens.accessToken;
    const send = <B>(path: string, body: object) => call<B>(b, 'POST', path, { token, body });
    const org = await send<{ id: string }>('/orgs/organizations', { name: 'Bakery', slug: 'bakery' });
    const site = await send<{ id: string }>('/orgs/sites', { orgId: org.body.id, name: 'Main' });
    const key = await send<{ key: string }>('/enrollment-keys', {
      orgId: org.body.id,
      siteId: site.body.id,
      name: 'First',
      maxUsage: AGENTS,
    });
    // One agent holds on to the one API, the others to the other.
    const serverOf = (n: number) => (n === 0 ? b : a);
    const run = (n: number) => launch(AGENT, ['run', '--state', state(n), '--interval', '2'], compiled, /Connected to/);
    for (let n = 0; n < AGENTS; n++) {
      const args = ['enroll', '--server', serverOf(n), '--key', key.body.key, '--state', state(n)];
      await launch(AGENT, args, compiled, null);
      agents.push(await run(n));
    }
    const devices = await Promise.all(
      agents.map(async (_, n) => JSON.parse(await readFile(state(n), 'utf8')).deviceId as string),
    );

    let over = false;
    let kills = 0;
    const ordered: string[] = [];
    const ordering = async () => {
      while (ordered.length < COMMANDS) {
        const device = devices[ordered.length % AGENTS];
        const body = {
          language: 'sh',
          content: `sleep 0.${1 + (ordered.length % 3)}; echo $0 $1 >> ${ran}`,
          timeoutSeconds: 60,
        };
        // Each script writes its own number; who orders while the API is away comes again, and says that it is the same order.
        const content = body.content.replace('$0 $1', String(ordered.length));
        const made = await call<{ data: { id: string } }>(b, 'POST', `/devices/${device}/run-script`, {
          token,
          body: { ...body, content },
          headers: { 'idempotency-key': `order-${ordered.length}` },
        }).catch(() => null);
        if (made?.status === 201) ordered.push(made.body.data.id);
        await pause(100);
        // On a slow machine what was killed takes long to come back: the orders wait, so that the kills go on between them.
        while (kills < Math.floor((ordered.length * LEAST_KILLS) / COMMANDS)) await pause(100);
      }
    };
    const kill = async (list: Running[], index: number, again: () => Promise<Running>) => {
      await list[index]?.kill();
      kills += 1;
      list[index] = await again();
    };
    const killer = async () => {
      for (let turn = 0; !over; turn++) {
        await pause(randomInt(300, 1_500));
        if (over) return;
        const victim = VICTIMS[turn % VICTIMS.length] ?? 0;
        if (victim < AGENTS) await kill(agents, victim, () => run(victim));
        else await kill(running, victim - AGENTS, () => start(roles[victim - AGENTS] ?? {}));
      }
    };
    // What a dead process had fetched by polling is given out anew after two minutes; here they pass faster.
    const clock = async () => {
      while (!over) {
        await sql.query(
          `update device_commands set sent_at = sent_at - interval '3 minutes'
           where status = 'sent' and started_at is null and sent_at between now() - interval '1 minute' and now() - interval '10 seconds'`,
        );
        await pause(2_000);
      }
    };
    const killing = killer();
    const ticking = clock();
    await ordering();
    over = true;
    await killing;
    over = false;
    const ticking2 = Promise.all([ticking, clock()]);
    await until(
      'every command has ended',
      async () => {
        const { rows } = await sql.query(
          `select count(*)::int as n from device_commands where source = 'user' and status in ('pending', 'sent', 'running')`,
        );
        return rows[0].n === 0;
      },
      240,
    );
    over = true;
    await ticking2;

    const { rows } = await sql.query<{ id: string; status: string }>(
      `select id, status from device_commands where id = any($1::uuid[])`,
      [ordered],
    );
    const statusOf = new Map(rows.map(({ id, status }) => [id, status]));
    t.is(statusOf.size, COMMANDS);
    const lines = (await readFile(ran, 'utf8')).trim().split('\n').map(Number);
    t.is(new Set(lines).size, lines.length, 'none ran twice');
    const written = new Set(lines);
    for (const [n, id] of ordered.entries()) {
      const status = statusOf.get(id) ?? '';
      t.true(['completed', 'failed'].includes(status), `command ${n} is ${status}`);
      if (status === 'completed') t.true(written.has(n), `command ${n} is said to have run`);
    }
    await until('the outbox is sealed', async () => {
      const sealed = await sql.query('select count(*)::int as n from audit_outbox');
      return sealed.rows[0].n === 0;
    });
    const audited = await sql.query<{ n: number; ids: number }>(
      `select count(*)::int as n, count(distinct details ->> 'commandId')::int as ids from audit_logs
       where action = 'agent.command.result.submit' and result = 'success'`,
    );
    t.deepEqual(audited.rows[0], { n: COMMANDS, ids: COMMANDS }, 'each result was stored once');
    t.true(kills >= LEAST_KILLS, `${kills} kills`);
    t.log(`${kills} kills, ${[...statusOf.values()].filter((one) => one === 'completed').length} completed`);
  } finally {
    for (const process of [...agents, ...running]) await process.kill();
    await sql.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
