/** A worker node: runs the tasks on graphile-worker, with schedules, history, heartbeat and upkeep. */
import { EventEmitter } from 'node:events';
import { parseCronItems, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import {
  ConcurrencyGate,
  cronItems,
  type JobHistory,
  type JobMetrics,
  newNodeId,
  openHistory,
  sendHeartbeat,
  type TaskServices,
} from '#core/jobs';
import { type Deferrals, openDeferrals } from './deferrals.ts';
import { queueLogger } from './log.ts';
import { type Running, recordRuns } from './runs.ts';
import { ABORT_MS, stopRunner } from './stopping.ts';
import { taskList } from './tasks.ts';
import { repeat, startUpkeep } from './upkeep.ts';

export interface WorkerOptions {
  /** Jobs at once. */
  concurrency: number;
  version: string;
  metrics?: JobMetrics;
  /** False in tests that run jobs step by step. */
  cron?: boolean;
  /** False writes no history, to measure what history costs. */
  history?: boolean;
  /** Milliseconds that jobs have to end at a stop before they return to the queue; 25 s when absent. */
  patienceMs?: number;
}

export interface Workers {
  readonly nodeId: string;
  stop(): Promise<void>;
}

const HEARTBEAT_MS = 5_000;
const POLL_MS = 1_000;
const PATIENCE_MS = 25_000;
/** Patience when an operator drains the node, which is not urgent. */
const DRAIN_PATIENCE_MS = 3_600_000;
const NO_HISTORY: JobHistory = { add: () => undefined, flush: async () => undefined };

/** Starts the node; resolves when it takes jobs. */
export async function startWorkers(services: TaskServices, options: WorkerOptions): Promise<Workers> {
  const node = new WorkerNode(services, options);
  await node.start();
  const stopBackground = await services.startBackground();
  const stopHeartbeats = repeat(HEARTBEAT_MS, () => node.heartbeat(), services.log);
  const stopUpkeep = startUpkeep(services);
  return {
    nodeId: node.id,
    async stop() {
      await stopUpkeep();
      await stopBackground().catch((error: Error) =>
        services.log.warn({ err: error }, 'background services did not stop cleanly'),
      );
      await node.drain(options.patienceMs ?? PATIENCE_MS);
      await stopHeartbeats();
    },
  };
}

class WorkerNode {
  readonly id = newNodeId();
  readonly #services: TaskServices;
  readonly #options: WorkerOptions;
  readonly #gate: ConcurrencyGate;
  readonly #deferrals: Deferrals;
  readonly #history: JobHistory;
  readonly #events = new EventEmitter() as WorkerEvents;
  readonly #running: Running;
  readonly #tasks: TaskList;
  #state: 'running' | 'draining' | 'stopped' = 'running';
  #runner: Runner | null = null;
  #draining: Promise<void> | null = null;

  constructor(services: TaskServices, options: WorkerOptions) {
    const { work, log, registry, skipped } = services;
    const { tenantConcurrency, tenantStrict, taskConcurrency } = work.services.config.workers;
    const isScheduled = (task: string) => registry.jobs.get(task)?.job.schedule !== undefined;
    const { metrics } = options;
    this.#services = services;
    this.#options = options;
    this.#gate = new ConcurrencyGate({ tenant: tenantConcurrency, strict: tenantStrict, tasks: taskConcurrency });
    this.#deferrals = openDeferrals(work.database.owner, log);
    this.#history =
      options.history === false ? NO_HISTORY : openHistory(work.database.platform, this.id, log, isScheduled);
    const recorders = { history: this.#history, metrics, gate: this.#gate, deferrals: this.#deferrals, skipped };
    this.#running = recordRuns(this.#events, recorders);
    this.#tasks = taskList(services, this.#gate);
  }

  async start(): Promise<void> {
    const { work, registry, log } = this.#services;
    const { concurrency, cron } = this.#options;
    await this.heartbeat();
    this.#runner = await run({
      pgPool: work.database.owner,
      taskList: this.#tasks,
      parsedCronItems: cron === false ? [] : parseCronItems(cronItems(registry)),
      concurrency,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      gracefulShutdownAbortTimeout: ABORT_MS,
      forbiddenFlags: () => this.#gate.forbidden(),
      logger: queueLogger(log),
      events: this.#events,
    });
    await this.heartbeat();
  }

  /** Shows that the node is alive, and does what operators request: pauses tasks, drains the node. */
  async heartbeat(): Promise<void> {
    if (this.#state === 'stopped') return;
    const requests = await this.#send();
    this.#gate.pause(requests.paused);
    if (requests.drain && this.#state === 'running') {
      this.#services.log.info({ node: this.id }, 'draining on request');
      this.drain(DRAIN_PATIENCE_MS).catch((error: Error) =>
        this.#services.log.warn({ err: error }, 'the node could not be drained'),
      );
    }
  }

  /** Takes no more jobs and waits for those that run; heartbeats continue meanwhile. */
  drain(patienceMs: number): Promise<void> {
    this.#state = 'draining';
    this.#draining ??= this.#stopTaking(patienceMs);
    return this.#draining;
  }

  async #stopTaking(patienceMs: number): Promise<void> {
    const { work, log } = this.#services;
    const { poolIds } = this.#running;
    if (this.#runner) {
      await stopRunner({ runner: this.#runner, owner: work.database.owner, log, nodeId: this.id, poolIds, patienceMs });
    }
    await Promise.all([this.#history.flush(), this.#deferrals.flush()]);
    this.#state = 'stopped';
    await this.#send().catch(() => undefined);
  }

  #send() {
    const { concurrency, version } = this.#options;
    const node = {
      id: this.id,
      version,
      concurrency,
      tasks: Object.keys(this.#tasks),
      workerIds: () => [...this.#running.poolIds],
      activeJobs: () => this.#running.started.size,
    };
    return sendHeartbeat(this.#services.work.database.platform, node, this.#state);
  }
}
