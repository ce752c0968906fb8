/** From an empty database to a managed device through separate processes, with each of them killed with -9 on the way. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { call, createTestDatabase, freePort } from '#test';
import { launch, type Running, until } from './process.ts';

interface Command {
  data: { status: string; stdout?: string | null; result?: { stdout?: string } | null };
}

test('register, enroll, see metrics, run a command; nothing is lost or doubled when any process dies', async (t) => {
  t.timeout(600_000);
  const database = await createTestDatabase({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-e2e-'));
  const [portA, portB] = [await freePort(), await freePort()];
  const env = {
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
  const api = (port: number) =>
    launch('app/quartermaster.ts', ['start'], { ...env, ROLE: 'api', PORT: String(port) }, /is ready/);
  const worker = () =>
    launch('app/quartermaster.ts', ['start'], { ...env, ROLE: 'worker', WORKER_CONCURRENCY: '2' }, /is ready/);
  const running = new Set<Running>();
  const keep = async (started: Promise<Running>) => {
    const process = await started;
    running.add(process);
    return process;
  };
  const sql = new pg.Pool({ connectionString: database.url, max: 2 });
  sql.on('connect', (client) => client.on('error', () => undefined));
  const rows = async (text: string, values: unknown[] = []) => (await sql.query(text, values)).rows;
  const stopAll = async () => {
    for (const process of running) await process.kill();
    await sql.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  };

  try {
    // Two of each on an empty database: one of them migrates, the others wait for it.
    let [apiA, apiB, workerA] = await Promise.all([keep(api(portA)), keep(api(portB)), keep(worker())]);
    await keep(worker());
    const [a, b] = [`http://127.0.0.1:${portA}`, `http://127.0.0.1:${portB}`];

    // The MSP registers, and prepares a place for the device.
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
    const made = async (base: string, path: string, body: unknown) => {
      const answer = await call<{ id: string; key: string }>(base, 'POST', path, { token, body });
      t.is(answer.status, 201, JSON.stringify(answer.body));
      return answer.body;
    };
    const org = await made(a, '/orgs/organizations', { name: 'Bakery', slug: 'bakery' });
    const site = await made(a, '/orgs/sites', { orgId: org.id, name: 'Main street' });
    const key = await made(a, '/enrollment-keys', { orgId: org.id, siteId: site.id, name: 'First', maxUsage: 5 });

    // A real agent on this machine enrolls and reports.
    const state = join(folder, 'agent', 'state.json');
    const agentFile = 'agent/src/main.ts';
    await launch(agentFile, ['enroll', '--server', a, '--key', key.key, '--state', state], {}, null);
    const runAgent = () => keep(launch(agentFile, ['run', '--state', state, '--interval', '1'], {}, /\S/));
    let agent = await runAgent();
    const device = await until('the device is online with metrics and hardware', async () => {
      const { body } = await call<{
        devices: {
          id: string;
          status: string;
          metrics: { cpuPercent: number } | null;
          hardware: { cpuCores: number } | null;
        }[];
      }>(b, 'GET', '/devices', { token });
      const found = body.devices[0];
      return (
        found?.status === 'online' &&
        typeof found.metrics?.cpuPercent === 'number' &&
        found.hardware?.cpuCores !== undefined &&
        found
      );
    });

    // Each command appends a line, so that running twice would show.
    const run = async (base: string, name: string, seconds: number) => {
      const script = `sleep ${seconds}; echo ${name} >> ${join(folder, 'ran')}; echo done ${name}`;
      const queued = await call<{ data: { id: string } }>(base, 'POST', `/devices/${device.id}/run-script`, {
        token,
        body: { language: 'bash', content: script },
      });
      t.is(queued.status, 201, JSON.stringify(queued.body));
      return queued.body.data.id;
    };
    const finished = (base: string, id: string, seconds = 60) =>
      until(
        `command ${id} is done`,
        async () => {
          const { body } = await call<Command>(base, 'GET', `/devices/${device.id}/commands/${id}`, { token });
          return ['completed', 'failed', 'timeout'].includes(body.data?.status) && body.data;
        },
        seconds,
      );
    const first = await run(b, 'first', 0);
    t.is((await finished(a, first)).status, 'completed');

    // The API dies while the command runs; the agent delivers to its successor.
    const second = await run(a, 'second', 3);
    await until(
      'the command is running',
      async () =>
        (await call<Command>(b, 'GET', `/devices/${device.id}/commands/${second}`, { token })).body.data.status ===
        'running',
    );
    running.delete(apiA);
    await apiA.kill();
    apiA = await keep(api(portA));
    t.is((await finished(a, second)).status, 'completed');

    // The agent dies between commands; what it had done it does not do again.
    running.delete(agent);
    await agent.kill();
    agent = await runAgent();
    const third = await run(a, 'third', 0);
    t.is((await finished(b, third)).status, 'completed');
    t.is(await readFile(join(folder, 'ran'), 'utf8'), 'first\nsecond\nthird\n');

    // Writers on both APIs while one of them and a worker die: a committed change has one entry, an undone one none.
    let dead = false;
    const write = async (base: string, from: number) => {
      for (let n = from; n < from + 60; n++) {
        await call(base, 'POST', '/orgs/sites', { token, body: { orgId: org.id, name: `Site ${n}` } }).catch(
          (error) => {
            if (!dead) throw error;
          },
        );
      }
    };
    const writing = Promise.all([write(a, 0), write(b, 1000)]);
    await until('some sites are written', async () => (await rows('select 1 from sites')).length > 40);
    dead = true;
    running.delete(apiB);
    running.delete(workerA);
    await Promise.all([apiB.kill(), workerA.kill()]);
    [apiB, workerA] = await Promise.all([keep(api(portB)), keep(worker())]);
    await writing;
    await until('the outbox is sealed', async () => (await rows('select 1 from audit_outbox')).length === 0);
    const [audit] = await rows(
      `select count(*)::int as entries, count(distinct resource_id)::int as distinct_ids,
         count(*) filter (where s.id is null)::int as without_site, (select count(*)::int from sites) as sites
       from audit_logs l left join sites s on s.id = l.resource_id where l.action = 'site.create' and l.result = 'success'`,
    );
    t.deepEqual(audit, { entries: audit.sites, distinct_ids: audit.sites, without_site: 0, sites: audit.sites });
    t.true(audit.sites > 60);
    const verdict = await call<{ data: { ok: boolean } }>(a, 'GET', `/audit-logs/verify?orgId=${org.id}`, { token });
    t.true(verdict.body.data.ok, JSON.stringify(verdict.body));

    // The trail tells the whole path, and no job is left behind.
    const actions = new Set((await rows('select distinct action from audit_logs')).map((row) => row.action));
    for (const action of [
      'partner.create',
      'organization.create',
      'site.create',
      'enrollment_key.create',
      'device.create',
      'script.execute',
      'agent.command.result.submit',
    ]) {
      t.true(actions.has(action), action);
    }
    await until(
      'the dead worker is known as lost',
      async () => (await rows(`select 1 from worker_nodes where state = 'lost'`)).length === 1,
      60,
    );
    await until(
      'no job waits',
      async () =>
        (await rows(`select 1 from graphile_worker.jobs where run_at < now() - interval '5 seconds'`)).length === 0,
      60,
    );
    // One that runs just now has used its last attempt too.
    const given = 'attempts >= max_attempts and locked_at is null';
    t.deepEqual(await rows(`select task_identifier, last_error from graphile_worker.jobs where ${given}`), []);
    for (const process of [agent, apiA, apiB, workerA]) {
      running.delete(process);
      t.is(await process.stop(), 0, process.output());
    }
  } finally {
    await stopAll();
  }
});
