/**
 * Webhooks under kill -9: API and workers die while a thousand events happen, or as many as CRASH_EVENTS says; each
 * arrives, and always with the same id.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import pg from 'pg';
import { call, createTestDatabase, freePort } from '#test';
import { launch, type Running, until } from './process.ts';

const EVENTS = Number(process.env.CRASH_EVENTS ?? 1000);
const LANES = 8;

test('no event is lost, and what arrives twice carries the same webhook-id', async (t) => {
  t.timeout(Math.max(600_000, EVENTS * 200));
  const database = await createTestDatabase({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-webhooks-'));
  const port = await freePort();
  const env = {
    NODE_COMPILE_CACHE: join(folder, 'compiled'),
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '5',
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    PORT: String(port),
    ENABLE_2FA: 'false',
    LOG_LEVEL: 'error',
    JWT_SECRET: 'j'.repeat(40),
    APP_ENCRYPTION_KEY: 'e'.repeat(40),
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
  };
  const roles = ['api', 'worker', 'worker'];
  const start = (role: string) =>
    launch('app/quartermaster.ts', ['start'], { ...env, ROLE: role, WORKER_CONCURRENCY: '2' }, /is ready/);
  const base = `http://127.0.0.1:${port}`;
  const sql = new pg.Pool({ connectionString: database.url, max: 2 });
  sql.on('connect', (client) => client.on('error', () => undefined));
  const heard = new Map<string, Set<string>>();
  let requests = 0;
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', async () => {
      const { id } = JSON.parse(text) as { id: string };
      heard.set(id, (heard.get(id) ?? new Set()).add(String(request.headers['webhook-id'])));
      requests += 1;
      // Long enough that some are under way whenever a worker dies.
      await pause(randomInt(0, 50));
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  const target = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const running: Running[] = [];
  try {
    running.push(await start('api'));
    running.push(...(await Promise.all(roles.slice(1).map(start))));
    const registered = await call<{ tokens: { accessToken: string } }>(base, 'POST', '/auth/register-partner', {
      body: {
        companyName: 'Acme MSP',
        name: 'Ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
        acceptTerms: true,
      },
    });
    const token = registered.body.tokens.accessToken;
    const send = <B>(method: string, path: string, body: object) => call<B>(base, method, path, { token, body });
    const org = await send<{ id: string }>('POST', '/orgs/organizations', { name: 'Bakery', slug: 'bakery' });
    const site = await send<{ id: string }>('POST', '/orgs/sites', { orgId: org.body.id, name: 'Main' });
    const place = { orgId: org.body.id, siteId: site.body.id, osType: 'linux' };
    const devices: string[] = [];
    for (let lane = 0; lane < LANES; lane++) {
      const made = await send<{ deviceId: string }>('POST', '/devices/provision', { ...place, hostname: `pc-${lane}` });
      devices.push(made.body.deviceId);
    }
    const hook = { orgId: org.body.id, name: 'Tickets', url: target, events: ['device.updated'] };
    t.is((await send('POST', '/webhooks', hook)).status, 201);

    let done = 0;
    let over = false;
    let kills = 0;
    const change = async (lane: number) => {
      for (let n = 0; done < EVENTS; n++) {
        const changed = await send('PATCH', `/devices/${devices[lane]}`, { displayName: `name ${lane} ${n}` }).catch(
          () => null,
        );
        if (changed?.status === 200) done += 1;
        else await pause(100);
      }
    };
    const killer = async () => {
      for (let turn = 0; !over; turn++) {
        await pause(randomInt(300, 1500));
        if (over) return;
        const index = turn % roles.length;
        await running[index]?.kill();
        kills += 1;
        running[index] = await start(roles[index] ?? '');
      }
    };
    const killing = killer();
    await Promise.all(devices.map((_, lane) => change(lane)));
    // One more death each, so that at least once something of every process was under way.
    await until('each died', async () => kills >= roles.length, 300);
    over = true;
    await killing;
    const { rows: events } = await sql.query<{ id: string }>(`select id from events where name = 'devices.updated'`);
    t.true(events.length >= EVENTS, `${events.length} events happened`);
    await until('every event arrived', async () => events.every(({ id }) => heard.has(id)), 120);
    t.true(
      [...heard.values()].every((ids) => ids.size === 1),
      'the same id each time',
    );
    const known = new Set(events.map(({ id }) => id));
    t.true(
      [...heard.keys()].every((id) => known.has(id)),
      'nothing arrives that did not happen',
    );
    await until(
      'the log says so',
      async () => {
        const { rows } = await sql.query(
          `select count(*)::int as n from webhook_deliveries where status = 'delivered' and event_type = 'device.updated'`,
        );
        return rows[0].n === events.length;
      },
      60,
    );
    t.log(`${events.length} events, ${kills} kills, ${requests - events.length} arrived twice`);
  } finally {
    for (const process of running) await process.kill();
    receiver.closeAllConnections();
    receiver.close();
    await sql.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
