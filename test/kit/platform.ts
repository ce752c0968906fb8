/** A whole platform in the test's own process: real HTTP, a real database, the real queue run step by step. */
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOnce } from 'graphile-worker';
import nock from 'nock';
import pg from 'pg';
import type { Logger } from 'pino';
import { readConfig } from '#config';
import { type Platform, startPlatform } from '#core/start';
import { createLog } from '../../core/log.ts';
import { resolveSecrets } from '../../core/secrets.ts';
import { queueLogger } from '../../workers/log.ts';
import { taskList } from '../../workers/main.ts';
import { createTestDatabase } from './database.ts';
import { watchEvents } from './event-shapes.ts';
import { type Called, type CallOptions, call } from './http.ts';
import type { Arranged } from './tenants.ts';

// Other people's servers are faked at the edge; anything else that leaves this machine fails the test.
nock.disableNetConnect();
nock.enableNetConnect(/^(127\.0\.0\.1|localhost|\[?::1\]?)(:\d+)?$/);

/** A file: errors that operations do not declare are collected there, a line each, instead of failing the test. */
const collected = process.env.QUARTERMASTER_UNDECLARED;

export interface TestPlatform extends Arranged {
  url: string;
  databaseUrl: string;
  dataDir: string;
  platform: Platform;
  call<B = unknown>(method: string, path: string, options?: CallOptions): Promise<Called<B>>;
  /** Runs queued jobs until none is ready, then waits until nothing waits in memory. */
  runJobs(): Promise<void>;
  /** Audit entries, oldest first, after everything has been sealed. */
  audits(where?: { action?: string; orgId?: string }): Promise<AuditSeen[]>;
  stop(): Promise<void>;
}
export interface AuditSeen {
  action: string;
  org_id: string | null;
  actor_type: string;
  actor_id: string;
  resource_type: string;
  resource_id: string;
  details: Record<string, unknown>;
  result: string;
}

/** A run ends where the next job's queue is still held by the job before it. */
const READY = `select from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
  left join graphile_worker._private_job_queues q on q.id = j.job_queue_id
  where j.is_available and j.run_at <= now() and t.identifier = any($1) and q.locked_at is null limit 1`;

interface Place {
  databaseUrl: string;
  dataDir: string;
}

async function open(
  { databaseUrl, dataDir }: Place,
  options: { seal: boolean; env: Record<string, string>; modulesRoot?: string | undefined },
): Promise<{ platform: Platform; log: Logger }> {
  /** What the API document does not say, and was. */
  const undeclared = new Set<string>();
  const config = readConfig({
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: '0',
    PUBLIC_URL: 'http://localhost:3000',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '5',
    LOG_LEVEL: 'error',
    ENABLE_2FA: 'false',
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
    ...options.env,
  });
  const log = createLog(config.logLevel);
  const platform = await startPlatform({
    config,
    secrets: await resolveSecrets(config),
    databaseUrl,
    log,
    api: true,
    seal: options.seal,
    checkResponses: true,
    onUndeclared(operation, { status, code }) {
      if (collected) appendFileSync(collected, `${operation} ${status} ${code}\n`);
      else undeclared.add(`${operation} answered ${status} ${code}`);
    },
    clocks: false,
    ...(options.modulesRoot ? { modulesRoot: options.modulesRoot } : {}),
  });
  watchEvents(platform, (fault) => undeclared.add(fault));
  return {
    platform: {
      ...platform,
      async stop() {
        await platform.stop();
        if (undeclared.size > 0) throw new Error(`not as the API document says: ${[...undeclared].join('; ')}`);
      },
    },
    log,
  };
}

/** A further API process of an installation, as far as one process can play two. Stop it before the first. */
export async function joinTestPlatform(
  first: Place,
  env: Record<string, string> = {},
): Promise<Pick<TestPlatform, 'url' | 'platform' | 'call' | 'stop'>> {
  const { platform } = await open(first, { seal: false, env });
  const { url } = platform;
  return {
    url,
    platform,
    call: (method, path, options) => call(url, method, path, options),
    stop: () => platform.stop(),
  };
}

/**
 * @param env variables on top of the kit's own, as an operator would set them
 * @param modulesRoot another folder of modules, for tests of the machinery itself
 */
export async function startTestPlatform(env: Record<string, string> = {}, modulesRoot?: string): Promise<TestPlatform> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-data-'));
  const { platform, log } = await open({ databaseUrl: database.url, dataDir }, { seal: true, env, modulesRoot });
  const pool = new pg.Pool({ connectionString: database.url, max: 3 });
  // Connections that are closing may still hear their database being dropped.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const tasks = taskList(platform.tasks);
  /** A test beside this one may have taken the job that this one waits for. */
  const runs = new Set<Promise<void>>();
  const url = platform.url;
  const sql = async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    (await pool.query<R>(text, values)).rows;
  return {
    url,
    databaseUrl: database.url,
    dataDir,
    platform,
    sql,
    signAccess: platform.tasks.work.services.signAccess,
    call: (method, path, options) => call(url, method, path, options),
    async runJobs() {
      do {
        const run = runOnce({
          pgPool: platform.tasks.work.database.owner,
          taskList: tasks,
          logger: queueLogger(log),
          noHandleSignals: true,
          // Only where they are written in batches does the end of the run wait for how the last jobs ended.
          preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
        });
        runs.add(run);
        try {
          await run;
        } finally {
          runs.delete(run);
        }
        await Promise.allSettled(runs);
      } while ((await sql(READY, [Object.keys(tasks)])).length > 0);
      await platform.settle();
    },
    async audits({ action, orgId } = {}) {
      await platform.settle();
      return sql<AuditSeen & pg.QueryResultRow>(
        `select action, org_id, actor_type, actor_id, resource_type, resource_id, details, result from audit_logs
         where ($1::text is null or action = $1) and ($2::uuid is null or org_id = $2) order by timestamp, owner, seq`,
        [action ?? null, orgId ?? null],
      );
    },
    async stop() {
      try {
        await platform.stop();
      } finally {
        await pool.end();
        await database.drop();
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  };
}
