/** What nodes do for the queue besides running jobs: release the jobs of dead nodes, postpone paused jobs, clean up. */
import { makeWorkerUtils } from 'graphile-worker';
import type { Logger } from 'pino';
import {
  freeDeadNodes,
  makePartitions,
  markHorizon,
  pruneHistory,
  pruneSeries,
  rollUpSeries,
  type TaskServices,
} from '#core/jobs';
import { queueLogger } from './log.ts';

const SWEEP_MS = 5_000;
const UPKEEP_MS = 3_600_000;
const HORIZON_MS = 60_000;
const ROLL_UP_MS = 300_000;
/** Days after which a permanently failed job leaves the queue. */
const FAILED_DAYS = 30;
/** Jobs of a paused task that one statement postpones. */
const POSTPONE_BATCH = 2_000;
const MAX_POSTPONE_ROUNDS = 100;

export function startUpkeep(services: TaskServices): () => Promise<void> {
  const { owner, platform } = services.work.database;
  const { log } = services;
  const stops = [
    repeat(
      SWEEP_MS,
      async () => {
        for (const lost of await freeDeadNodes(owner))
          log.warn({ node: lost }, 'a worker node died; its jobs will run again');
        await postponePaused(services);
      },
      log,
    ),
    repeat(HORIZON_MS, () => markHorizon(platform), log),
    repeat(ROLL_UP_MS, () => rollUpSeries(platform), log),
    repeat(
      UPKEEP_MS,
      async () => {
        await makePartitions(platform);
        await pruneHistory(platform);
        await pruneSeries(platform);
        await cleanQueue(services);
      },
      log,
    ),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/**
 * Postpones queued jobs of paused tasks by a minute. Workers skip them by their flag anyway, but only after scanning all of
 * them at each fetch.
 */
async function postponePaused({ work: { database } }: TaskServices): Promise<void> {
  const { rows } = await database.platform.query<{ task: string }>('select task from paused_tasks');
  for (const { task } of rows) {
    for (let round = 0; round < MAX_POSTPONE_ROUNDS; round++) {
      const moved = await database.platform.query<{ n: number }>(
        `select queue_put_off($1, now() + interval '60 seconds', $2) as n`,
        [task, POSTPONE_BATCH],
      );
      if ((moved.rows[0]?.n ?? 0) < POSTPONE_BATCH) break;
    }
  }
}

/** Deletes permanently failed jobs after 30 days, keeping the last error in the history, and task names that nothing uses. */
export async function cleanQueue({ work: { database }, log }: TaskServices): Promise<void> {
  const { owner } = database;
  await owner.query(
    `with old as (select j.* from graphile_worker.jobs j where j.attempts >= j.max_attempts and j.locked_at is null
         and j.updated_at < now() - make_interval(days => $1) order by j.id limit 10000),
       told as (insert into job_failures (job_id, task, queue, key, attempt, started_at, finished_at, duration_ms, outcome,
           error_message, node_id)
         select id, task_identifier, queue_name, key, attempts, updated_at, now(), 0, 'failed', left(last_error, 2000), 'cleaned'
         from old)
     select graphile_worker.complete_jobs(array(select id from old))`,
    [FAILED_DAYS],
  );
  const { rows } = await owner.query<{ tasks: string[] }>(
    `select array(select distinct unnest(tasks) from worker_nodes where state in ('running', 'draining')) as tasks`,
  );
  const utils = await makeWorkerUtils({ pgPool: owner, logger: queueLogger(log) });
  try {
    // Delete the name of a task only when no worker runs it: workers remember its number.
    const keep = rows[0]?.tasks ?? [];
    const all = keep.length > 0 ? (['GC_TASK_IDENTIFIERS', 'GC_JOB_QUEUES'] as const) : (['GC_JOB_QUEUES'] as const);
    await utils.cleanup({ tasks: [...all], taskIdentifiersToKeep: keep });
  } finally {
    await utils.release();
  }
}

/** Runs every `everyMs`, one run after another. A failure is logged. Returns a function that stops and waits for the last run. */
export function repeat(everyMs: number, run: () => Promise<void>, log: Logger): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(run).catch((error: Error) => log.warn({ err: error }, 'worker upkeep failed; trying again'));
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
