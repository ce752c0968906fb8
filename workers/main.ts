/** A worker node: every declared job and subscriber as a task of graphile-worker, with schedules, history and heartbeat. */
import { EventEmitter } from 'node:events';
import { parseCronItems, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import type { Metrics } from '../core/http/metrics.ts';
import { Gate } from '../core/jobs/gate.ts';
import { type JobHistory, openHistory } from '../core/jobs/history.ts';
import { beat, newNodeId } from '../core/jobs/nodes.ts';
import type { JobEnvelope } from '../core/jobs/registry.ts';
import { cronItems, layOutMinute, startScheduled } from '../core/jobs/schedule.ts';
import { jobTask, type QueueTask, subscriberTask, type TaskServices } from '../core/jobs/task.ts';
import { queueLogger } from './log.ts';
import { openPutOffs } from './put-offs.ts';
import { recordRuns } from './runs.ts';
import { ABORT_MS, stopRunner } from './stopping.ts';
import { repeat, startUpkeep } from './upkeep.ts';

export interface WorkerOptions {
  concurrency: number;
  version: string;
  metrics?: Metrics;
  /** False in tests that run jobs step by step. */
  cron?: boolean;
  /** False writes no history: only to measure what it costs. */
  history?: boolean;
  /** Ms that jobs have at a stop before they are taken back; 25 s when absent. */
  patienceMs?: number;
}
export interface Workers {
  readonly nodeId: string;
  stop(): Promise<void>;
}

const BEAT_MS = 5_000;
const NO_HISTORY: JobHistory = { add: () => undefined, flush: async () => undefined };

/** All tasks of this process, by name. The gate keeps what is too much at once, or paused, from starting. */
export function taskList(services: TaskServices, gate?: Gate): TaskList {
  const { registry } = services;
  const pool = services.work.database.owner;
  const tasks: TaskList = {
    'core/tick': async () => layOutMinute(pool, registry, new Date(Math.floor(Date.now() / 60_000) * 60_000)),
    'core/start': async (payload) => startScheduled(pool, registry, (payload as { job: string }).job, new Date()),
  };
  const gated = (name: string, task: QueueTask): QueueTask => {
    if (!gate) return task;
    return async (payload, helpers) => {
      const leave = gate.enter(name, (payload as JobEnvelope).orgId);
      try {
        await task(payload, helpers);
      } finally {
        leave();
      }
    };
  };
  for (const name of registry.jobs.keys()) tasks[name] = gated(name, jobTask(services, name));
  for (const task of registry.subscribers.keys()) tasks[task] = gated(task, subscriberTask(services, task));
  return tasks;
}

/** Starts the node; resolves when it listens for jobs. */
export async function startWorkers(services: TaskServices, options: WorkerOptions): Promise<Workers> {
  const { database, services: processServices } = services.work;
  const { log, registry } = services;
  const events = new EventEmitter() as WorkerEvents;
  const nodeId = newNodeId();
  const { tenantConcurrency, tenantStrict, taskConcurrency } = processServices.config.workers;
  const gate = new Gate({ tenant: tenantConcurrency, strict: tenantStrict, tasks: taskConcurrency });
  const putOffs = openPutOffs(database.owner, log);
  const scheduled = (task: string) => registry.jobs.get(task)?.job.schedule !== undefined;
  const history = options.history === false ? NO_HISTORY : openHistory(database.platform, nodeId, log, scheduled);
  const { skipped } = services;
  const { poolIds, started } = recordRuns(events, { history, metrics: options.metrics, gate, putOffs, skipped });
  const tasks = taskList(services, gate);
  const node = {
    id: nodeId,
    version: options.version,
    concurrency: options.concurrency,
    tasks: Object.keys(tasks),
    workerIds: () => [...poolIds],
    activeJobs: () => started.size,
  };
  let state: 'running' | 'draining' | 'stopped' = 'running';
  let runner: Runner | null = null;
  let stopping: Promise<void> | null = null;
  /** Takes no more jobs and waits for those that run; the node goes on beating meanwhile. */
  const drain = (patienceMs: number): Promise<void> => {
    state = 'draining';
    stopping ??= (async () => {
      if (runner) await stopRunner({ runner, owner: database.owner, log, nodeId, poolIds, patienceMs });
      await Promise.all([history.flush(), putOffs.flush()]);
      state = 'stopped';
      await beat(database.platform, node, state).catch(() => undefined);
    })();
    return stopping;
  };
  const show = async () => {
    if (state === 'stopped') return;
    const wishes = await beat(database.platform, node, state);
    gate.pause(wishes.paused);
    // Whoever drains a node is in no hurry: its jobs may take an hour.
    if (wishes.drain && state === 'running') {
      log.info({ node: nodeId }, 'draining on request');
      void drain(3_600_000);
    }
  };
  await show();
  runner = await run({
    pgPool: database.owner,
    taskList: tasks,
    parsedCronItems: options.cron === false ? [] : parseCronItems(cronItems(registry)),
    concurrency: options.concurrency,
    pollInterval: 1000,
    noHandleSignals: true,
    gracefulShutdownAbortTimeout: ABORT_MS,
    forbiddenFlags: () => gate.forbidden(),
    logger: queueLogger(log),
    events,
  });
  await show();
  const stopBackground = await services.startBackground();
  const stopBeats = repeat(BEAT_MS, show, log);
  const stopUpkeep = startUpkeep(services);
  return {
    nodeId,
    async stop() {
      await stopUpkeep();
      await stopBackground().catch((error: Error) =>
        log.warn({ err: error }, 'background services did not stop cleanly'),
      );
      await drain(options.patienceMs ?? 25_000);
      await stopBeats();
    },
  };
}
