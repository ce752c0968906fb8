/** What the benchmarks of the queue share: our worker and a bare one on the same database, and filling the queue. */
import { run } from 'graphile-worker';
import Joi from 'joi';
import { readConfig } from '#config';
import { type Platform, startPlatform } from '#core/start';
import { createLog } from '../../core/log.ts';
import { queueLogger, startWorkers, type WorkerOptions } from '../../workers/index.ts';
import type { Ground } from './ground.ts';

export const CONCURRENCY = 8;
export const OURS = 'bench/empty';
export const BARE = 'bench/bare';

export interface Queue {
  platform: Platform;
  /** What the task does; both workers run it. */
  task: { run(payload: unknown): Promise<void> };
  workers(options?: Partial<WorkerOptions>): Promise<() => Promise<void>>;
  bare(): Promise<() => Promise<void>>;
  /** Through the door that requests use, 1,000 jobs a statement. */
  add(orgId: string, count: number, data?: object): Promise<void>;
  addBare(count: number): Promise<void>;
  clear(): Promise<void>;
}

export async function openQueue(ground: Ground): Promise<Queue> {
  const config = readConfig({
    DATA_DIR: ground.dataDir,
    DATABASE_URL: ground.databaseUrl,
    PORT: '0',
    LOG_LEVEL: 'warn',
    WORKER_CONCURRENCY: String(CONCURRENCY),
  });
  const log = createLog('warn');
  const secrets = { ...ground.secrets, enrollmentPepper: ground.secrets.encryptionKey };
  const { databaseUrl } = ground;
  const platform = await startPlatform({ config, secrets, databaseUrl, log, api: false, seal: false });
  const { registry } = platform.tasks;
  const { database } = platform.tasks.work;
  const task: Queue['task'] = { run: async () => undefined };
  registry.addJob({
    module: 'bench',
    job: {
      name: OURS,
      summary: 'What the benchmark wants',
      scope: 'tenant',
      payload: Joi.object({}).unknown(),
      maxAttempts: 1,
      run: (_ctx, payload) => task.run(payload),
    },
  });
  return {
    platform,
    task,
    async workers(options = {}) {
      const started = await startWorkers(platform.tasks, {
        concurrency: CONCURRENCY,
        version: 'bench',
        cron: false,
        metrics: platform.metrics,
        ...options,
      });
      return () => started.stop();
    },
    async bare() {
      const runner = await run({
        pgPool: database.owner,
        taskList: { [BARE]: (payload) => task.run(payload) },
        concurrency: CONCURRENCY,
        pollInterval: 1000,
        noHandleSignals: true,
        parsedCronItems: [],
        logger: queueLogger(log),
      });
      return () => runner.stop();
    },
    async add(orgId, count, data = {}) {
      for (let done = 0; done < count; done += 1000) {
        const jobs = Array.from({ length: Math.min(1000, count - done) }, () =>
          registry.jobRow(OURS, data, { orgId, requestId: 'bench' }, {}),
        );
        await database.platform.query('select flush_effects($1::jsonb)', [JSON.stringify({ jobs })]);
      }
    },
    addBare: async (count) => {
      await ground.sql(
        `select count(*) from (select graphile_worker.add_job($1, '{"orgId":null,"requestId":"bench","data":{}}')
           from generate_series(1, $2)) x`,
        [BARE, count],
      );
    },
    clear: async () => {
      await ground.sql('delete from graphile_worker._private_jobs');
      await ground.sql('vacuum analyze graphile_worker._private_jobs');
    },
  };
}
