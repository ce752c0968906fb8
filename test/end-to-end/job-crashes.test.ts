/** A worker is killed in the middle of a job: another one runs it within 30 s, and the history tells the story. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import pg from 'pg';
import { call, createTestDatabase, freePort } from '#test';
import { launch, type Running, until } from './process.ts';

interface Run {
  attempt: number;
  outcome: string;
  nodeId: string;
  errorMessage: string | null;
}

test('kill -9 in the middle of a job: it runs again on another worker within 30 s, and the history says what happened', async (t) => {
  t.timeout(600_000);
  const database = await createTestDatabase({ empty: true });
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-jobs-'));
  const port = await freePort();
  const env = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '5',
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    ENABLE_2FA: 'false',
    LOG_LEVEL: 'error',
    JWT_SECRET: 'j'.repeat(40),
    APP_ENCRYPTION_KEY: 'e'.repeat(40),
    BOOTSTRAP_ADMIN_EMAIL: 'root@example.com',
    BOOTSTRAP_ADMIN_PASSWORD: 'correct horse battery',
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
  };
  const running = new Set<Running>();
  const keep = async (started: Promise<Running>) => {
    const process = await started;
    running.add(process);
    return process;
  };
  const worker = () =>
    keep(launch('app/quartermaster.ts', ['start'], { ...env, ROLE: 'worker', WORKER_CONCURRENCY: '2' }, /is ready/));
  const sql = new pg.Pool({ connectionString: database.url, max: 3 });
  sql.on('error', () => undefined);
  sql.on('connect', (client) => client.on('error', () => undefined));
  try {
    await keep(launch('app/quartermaster.ts', ['start'], { ...env, ROLE: 'api', PORT: String(port) }, /is ready/));
    const base = `http://127.0.0.1:${port}`;
    const login = await call<{ tokens: { accessToken: string } }>(base, 'POST', '/auth/login', {
      body: { email: 'root@example.com', password: 'correct horse battery' },
    });
    t.is(login.status, 200, JSON.stringify(login.body));
    const token = login.body.tokens.accessToken;
    const first = await worker();

    // The job waits in the middle of its work for as long as this transaction holds the table.
    const holder = await sql.connect();
    await holder.query('begin; lock table invitations in access exclusive mode');
    const { rows } = await sql.query<{ id: number }>(
      `select id::int from graphile_worker.add_job('users/sweep-invitations', '{"orgId":null,"requestId":"test","data":{}}', max_attempts := 1)`,
    );
    const id = rows[0]?.id;
    const read = async () =>
      (await call<{ data: { state: string; nodeId: string | null } }>(base, 'GET', `/admin/jobs/${id}`, { token })).body
        .data;
    const before = await until('the job runs', async () => {
      const job = await read();
      return job?.state === 'running' && job;
    });
    const second = await worker();
    running.delete(first);
    await first.kill();
    const killedAt = Date.now();
    const after = await until('it runs on the other worker', async () => {
      const job = await read();
      return job?.state === 'running' && job.nodeId !== before.nodeId && job;
    });
    t.true(Date.now() - killedAt < 30_000, `${Date.now() - killedAt} ms`);
    await holder.query('commit');
    holder.release();
    const runs = async () =>
      (await call<{ data: Run[] }>(base, 'GET', `/admin/jobs/runs?jobId=${id}`, { token })).body.data;
    await until('the job is done and told', async () => (await runs()).length === 2);
    const [last, interrupted] = await runs();
    t.like(interrupted, { outcome: 'interrupted', nodeId: before.nodeId, errorMessage: 'The worker fell silent' });
    t.like(last, { outcome: 'success', nodeId: after.nodeId, attempt: 1 });
    const gone = await call(base, 'GET', `/admin/jobs/${id}`, { token });
    t.is(gone.status, 404);
    const nodes = await call<{ data: { id: string; state: string }[] }>(base, 'GET', '/admin/jobs/workers', { token });
    t.is(nodes.body.data.find((node) => node.id === before.nodeId)?.state, 'lost');
    running.delete(second);
    t.is(await second.stop(), 0, second.output());
  } finally {
    for (const process of running) await process.kill();
    await sql.end();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  }
});
