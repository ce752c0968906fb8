/** An empty task through our wrapper with history on, against bare graphile-worker with the same settings. */

import { run } from 'graphile-worker';
import Joi from 'joi';
import { readConfig } from '#config';
import { createLog } from '../../../core/log.ts';
import { startPlatform } from '../../../core/platform.ts';
import { queueLogger, startWorkers } from '../../../workers/main.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const JOBS = 6000;
const CONCURRENCY = 8;

export const scenario: Scenario = {
  title: `${JOBS} empty jobs, concurrency ${CONCURRENCY}, jobs a second, against bare graphile-worker`,
  async run(ground) {
    const config = readConfig({
      DATA_DIR: ground.dataDir,
      DATABASE_URL: ground.databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'warn',
    });
    const log = createLog('warn');
    const secrets = { ...ground.secrets, enrollmentPepper: ground.secrets.encryptionKey };
    const platform = await startPlatform({
      config,
      secrets,
      databaseUrl: ground.databaseUrl,
      log,
      api: false,
      seal: false,
    });
    const { orgId } = await ground.tenant();
    let done = 0;
    let finished: () => void = () => undefined;
    const count = async () => {
      done += 1;
      if (done === JOBS) finished();
    };
    platform.tasks.registry.addJob({
      module: 'bench',
      job: {
        name: 'bench/empty',
        summary: 'Nothing',
        scope: 'tenant',
        payload: Joi.object({}),
        maxAttempts: 1,
        run: count,
      },
    });
    const fill = (task: string) =>
      ground.sql(
        `select count(*) from (select graphile_worker.add_job($1, json_build_object('orgId', $2::text, 'requestId', 'bench', 'data', '{}'::json)) from generate_series(1, $3)) x`,
        [task, orgId, JOBS],
      );
    const timed = async (start: () => Promise<() => Promise<void>>) => {
      done = 0;
      const all = new Promise<void>((resolve) => {
        finished = resolve;
      });
      const begin = performance.now();
      const stop = await start();
      await all;
      const took = (performance.now() - begin) / 1000;
      await stop();
      return JOBS / took;
    };
    const ours = async () => {
      await fill('bench/empty');
      return timed(async () => {
        const workers = await startWorkers(platform.tasks, {
          concurrency: CONCURRENCY,
          version: 'bench',
          cron: false,
          metrics: platform.metrics,
        });
        return () => workers.stop();
      });
    };
    const bare = async () => {
      await fill('bench/bare');
      return timed(async () => {
        const runner = await run({
          pgPool: platform.tasks.work.database.owner,
          taskList: { 'bench/bare': count },
          concurrency: CONCURRENCY,
          pollInterval: 1000,
          noHandleSignals: true,
          parsedCronItems: [],
          logger: queueLogger(log),
        });
        return () => runner.stop();
      });
    };
    const figures = await inTurns(3, ours, bare);
    const [history] = await ground.sql<{ n: number }>(
      `select count(*)::int as n from job_runs where task = 'bench/empty'`,
    );
    await platform.stop();
    return { ...figures, 'history rows': rounded(history?.n ?? 0) };
  },
};
