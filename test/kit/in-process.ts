/** A whole platform in the test's own process: real HTTP, a real database, the real queue run step by step. */
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOnce } from 'graphile-worker';
import type pg from 'pg';
import type { Logger } from 'pino';
import { readConfig } from '#config';
import { type Platform, startPlatform } from '#core/start';
import { createLog } from '../../core/log.ts';
import { resolveSecrets, type Secrets } from '../../core/secrets.ts';
import { queueLogger, taskList } from '../../workers/index.ts';
import { connectClient, type Sql } from './client.ts';
import { createTestDatabase } from './database.ts';
import { watchEvents } from './event-shapes.ts';
import { call } from './http.ts';
import type { Installation, TestPlatform } from './platform-types.ts';

/** Path of a file that collects undeclared errors of operations, one a line, instead of failing the test. */
const collected = process.env.QUARTERMASTER_UNDECLARED;

/** Whether a job is ready: a run of the queue ends early when the next job's queue is still locked by the job before it. */
const READY = `select from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
  left join graphile_worker._private_job_queues q on q.id = j.job_queue_id
  where j.is_available and j.run_at <= now() and t.identifier = any($1) and q.locked_at is null limit 1`;

interface Opened {
  platform: Platform;
  log: Logger;
  secrets: Secrets;
  /** Answers and events that differ from the API document, since the last call. */
  takeFaults(): string[];
}

async function open(
  { databaseUrl, dataDir }: Installation,
  options: { seal: boolean; env: Record<string, string>; modulesRoot?: string | undefined },
): Promise<Opened> {
  const faults = new Set<string>();
  const config = readConfig({
    NODE_ENV: 'test',
    HOST: '127.0.0.1',
    PORT: '0',
    PUBLIC_URL: 'http://localhost:3000',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '5',
    LOG_LEVEL: 'error',
    ...(process.env.REDIS_URL ? { REDIS_URL: process.env.REDIS_URL } : {}),
    ...options.env,
  });
  const log = createLog(config.logLevel);
  const secrets = await resolveSecrets(config);
  const platform = await startPlatform({
    config,
    secrets,
    databaseUrl,
    log,
    api: true,
    seal: options.seal,
    checkResponses: true,
    onUndeclared(operation, { status, code }) {
      if (collected) appendFileSync(collected, `${operation} ${status} ${code}\n`);
      else faults.add(`${operation} answered ${status} ${code}`);
    },
    clocks: false,
    ...(options.modulesRoot ? { modulesRoot: options.modulesRoot } : {}),
  });
  watchEvents(platform, (fault) => faults.add(fault));
  const takeFaults = () => {
    const taken = [...faults];
    faults.clear();
    return taken;
  };
  return { platform, log, secrets, takeFaults };
}

/** @throws when there are any */
export function throwFaults(faults: string[]): void {
  if (faults.length > 0) throw new Error(`not as the API document says: ${faults.join('; ')}`);
}

/** See `joinTestPlatform`. */
export async function joinInProcess(
  first: Installation,
  env: Record<string, string>,
): Promise<Pick<TestPlatform, 'url' | 'platform' | 'call' | 'stop'>> {
  const { platform, takeFaults } = await open(first, { seal: false, env });
  const { url } = platform;
  return {
    url,
    platform,
    call: (method, path, options) => call(url, method, path, options),
    async stop() {
      await platform.stop();
      throwFaults(takeFaults());
    },
  };
}

/** Runs jobs until none is ready. */
function jobRunner({ platform, log }: Opened, sql: Sql): () => Promise<void> {
  const tasks = taskList(platform.tasks);
  /** Runs of other tests of the file: one of them may have taken the job that this one waits for. */
  const runs = new Set<Promise<void>>();
  return async () => {
    do {
      const run = runOnce({
        pgPool: platform.tasks.work.database.owner,
        taskList: tasks,
        logger: queueLogger(log),
        noHandleSignals: true,
        // Only with batches does the end of the run wait until the results of the last jobs are written.
        preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      });
      runs.add(run);
      try {
        await run;
      } finally {
        runs.delete(run);
      }
      await Promise.allSettled(runs);
    } while ((await sql<pg.QueryResultRow>(READY, [Object.keys(tasks)])).length > 0);
    await platform.settle();
  };
}

/** A platform whose faults can be taken without stopping it, for a process that serves several test files. */
export interface InProcess extends TestPlatform {
  secrets: Secrets;
  takeFaults(): string[];
}

/** See `startTestPlatform`. */
export async function startInProcess(env: Record<string, string>, modulesRoot?: string): Promise<InProcess> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-data-'));
  const installation = { databaseUrl: database.url, dataDir };
  const opened = await open(installation, { seal: true, env, modulesRoot });
  const { platform, secrets, takeFaults } = opened;
  const { client, close } = connectClient({
    ...installation,
    url: platform.url,
    enrollmentPepper: secrets.enrollmentPepper,
    signAccess: platform.tasks.work.services.signAccess,
    settle: () => platform.settle(),
  });
  return {
    ...client,
    platform,
    secrets,
    takeFaults,
    runJobs: jobRunner(opened, client.sql),
    async stop() {
      try {
        await platform.stop();
        throwFaults(takeFaults());
      } finally {
        await close();
        await database.drop();
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  };
}
