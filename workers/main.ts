/** A worker node: every declared job and subscriber as a task of graphile-worker, with schedules, history and heartbeat. */
import { EventEmitter } from 'node:events';
import {
  parseCronItems,
  Logger as QueueLogger,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import type { Logger } from 'pino';
import { makePartitions, pruneHistory } from '../core/database/upkeep.ts';
import type { Metrics } from '../core/http/metrics.ts';
import { openHistory } from '../core/jobs/history.ts';
import { beat, freeDeadNodes, leave, newNodeId } from '../core/jobs/nodes.ts';
import { cronItems, layOutMinute, startScheduled } from '../core/jobs/schedule.ts';
import { jobTask, subscriberTask, type TaskServices } from '../core/jobs/task.ts';
import { recordRuns } from './runs.ts';

export interface WorkerOptions {
  concurrency: number;
  version: string;
  metrics?: Metrics;
  /** False in tests that run jobs step by step. */
  cron?: boolean;
}
export interface Workers {
  readonly nodeId: string;
  stop(): Promise<void>;
}

const BEAT_MS = 5_000;
const SWEEP_MS = 10_000;
const UPKEEP_MS = 3_600_000;

/** All tasks of this process, by name. */
export function taskList(services: TaskServices): TaskList {
  const { registry } = services;
  const pool = services.work.database.owner;
  const tasks: TaskList = {
    'core/tick': async () => layOutMinute(pool, registry, new Date(Math.floor(Date.now() / 60_000) * 60_000)),
    'core/start': async (payload) => startScheduled(pool, registry, (payload as { job: string }).job, new Date()),
  };
  for (const name of registry.jobs.keys()) tasks[name] = jobTask(services, name);
  for (const task of registry.subscribers.keys()) tasks[task] = subscriberTask(services, task);
  return tasks;
}

/** graphile-worker's messages in our log, one level quieter: its notices about every job are history here. */
export function queueLogger(log: Logger): QueueLogger {
  return new QueueLogger(() => (level, message) => {
    if (level === 'error') log.error({ queue: true }, message);
    else if (level === 'warning') log.warn({ queue: true }, message);
    else log.trace({ queue: true }, message);
  });
}

/** Starts the node; resolves when it listens for jobs. */
export async function startWorkers(services: TaskServices, options: WorkerOptions): Promise<Workers> {
  const { database } = services.work;
  const { log } = services;
  const events = new EventEmitter() as WorkerEvents;
  const nodeId = newNodeId();
  const history = openHistory(database.platform, nodeId, log);
  const workerIds = recordRuns(events, history, options.metrics);
  const node = {
    id: nodeId,
    version: options.version,
    concurrency: options.concurrency,
    workerIds: () => [...workerIds],
  };
  await beat(database.platform, node, 'running');
  const runner: Runner = await run({
    pgPool: database.owner,
    taskList: taskList(services),
    parsedCronItems: options.cron === false ? [] : parseCronItems(cronItems(services.registry)),
    concurrency: options.concurrency,
    pollInterval: 1000,
    noHandleSignals: true,
    logger: queueLogger(log),
    events,
  });
  await beat(database.platform, node, 'running');
  const stopBeats = repeat(BEAT_MS, () => beat(database.platform, node, 'running'), log);
  const stopSweeps = repeat(
    SWEEP_MS,
    async () => {
      for (const lost of await freeDeadNodes(database.owner))
        log.warn({ node: lost }, 'a worker node died; its jobs run again');
    },
    log,
  );
  const stopUpkeep = repeat(
    UPKEEP_MS,
    async () => {
      await makePartitions(database.platform);
      await pruneHistory(database.platform);
    },
    log,
  );
  return {
    nodeId,
    async stop() {
      await Promise.all([stopBeats(), stopSweeps(), stopUpkeep()]);
      await beat(database.platform, node, 'draining').catch(() => undefined);
      await runner.stop().catch((error: Error) => log.warn({ err: error }, 'the queue did not stop cleanly'));
      await history.flush();
      await leave(database.platform, nodeId).catch(() => undefined);
    },
  };
}

function repeat(everyMs: number, run: () => Promise<void>, log: Logger): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(run).catch((error: Error) => log.warn({ err: error }, 'worker upkeep failed; trying again'));
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
