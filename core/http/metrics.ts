/** What the process measures of itself, in Prometheus' text form. */
import type pg from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueFigures } from '../jobs/figures.ts';

export interface Metrics {
  observe(route: string, method: string, status: number, seconds: number): void;
  job(task: string, outcome: string, seconds: number): void;
  /** A job was fetched and went back, because enough of its kind runs or its task is paused. */
  putOff(task: string): void;
  /** Somebody waited so long for a connection of the pool. */
  poolWait(pool: string, seconds: number): void;
  /** Something happened on a socket of this path. */
  socket(path: string, event: string): void;
  /** A module package cannot be used in this process. */
  packageFault(name: string, module: string): void;
  text(): Promise<string>;
}

/**
 * @param pools whose waiting clients show a starved process
 * @param figures what only the database knows, read at each scrape; a scrape without them is better than none
 */
export function createMetrics(pools: () => Record<string, pg.Pool>, figures?: () => Promise<QueueFigures>): Metrics {
  const registry = new Registry();
  const queue = queueGauges(registry);
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its answer',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  const jobs = new Counter({
    name: 'jobs_completed_total',
    help: 'Attempts of jobs by outcome',
    labelNames: ['task', 'outcome'],
    registers: [registry],
  });
  const jobSeconds = new Histogram({
    name: 'job_duration_seconds',
    help: 'Run time of jobs',
    labelNames: ['task'],
    buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120],
    registers: [registry],
  });
  const putOffs = new Counter({
    name: 'jobs_put_off_total',
    help: 'Jobs that were fetched and went back at once, by task',
    labelNames: ['task'],
    registers: [registry],
  });
  const waits = new Histogram({
    name: 'database_pool_wait_seconds',
    help: 'Time until a connection was there',
    labelNames: ['pool'],
    buckets: [0.001, 0.01, 0.05, 0.25, 1, 5],
    registers: [registry],
  });
  const sockets = new Counter({
    name: 'socket_events_total',
    help: 'What happened on WebSockets, by path',
    labelNames: ['path', 'event'],
    registers: [registry],
  });
  const faults = new Gauge({
    name: 'module_package_faults',
    help: 'Module packages that cannot be used here',
    labelNames: ['package', 'module'],
    registers: [registry],
  });
  new Gauge({
    name: 'database_pool_waiting',
    help: 'Work waiting for a connection',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, { waitingCount }] of Object.entries(pools())) this.set({ pool }, waitingCount);
    },
  });
  new Gauge({
    name: 'database_pool_connections',
    help: 'Open connections',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount }] of Object.entries(pools())) this.set({ pool }, totalCount);
    },
  });
  return {
    observe: (route, method, status, seconds) => requests.observe({ route, method, status }, seconds),
    job(task, outcome, seconds) {
      jobs.inc({ task, outcome });
      jobSeconds.observe({ task }, seconds);
    },
    socket: (path, event) => sockets.inc({ path, event }),
    packageFault: (name, module) => faults.set({ package: name, module }, 1),
    putOff: (task) => putOffs.inc({ task }),
    poolWait: (pool, seconds) => waits.observe({ pool }, seconds),
    async text() {
      const read = await figures?.().catch(() => undefined);
      if (read) queue(read);
      return registry.metrics();
    },
  };
}

/** The gauges of the queue; what a task no longer has disappears. */
function queueGauges(registry: Registry): (figures: QueueFigures) => void {
  const gauge = (name: string, help: string, label?: string) =>
    new Gauge({ name, help, labelNames: label ? [label] : [], registers: [registry] });
  const ready = gauge('jobs_ready', 'Jobs that could start now, by task', 'task');
  const oldest = gauge('jobs_oldest_ready_seconds', 'Age of the oldest job that could start, by task', 'task');
  const running = gauge('jobs_running', 'Jobs that run, by task', 'task');
  const failed = gauge('jobs_failed', 'Jobs without attempts left, by task', 'task');
  const stuck = gauge('jobs_stuck', 'Jobs whose worker is lost or that run far too long');
  const age = gauge('queue_snapshot_age_seconds', 'Time since the queue was counted');
  const beats = gauge('worker_heartbeat_age_seconds', 'Time since a worker showed itself, by node', 'node');
  const newest = gauge('worker_newest_heartbeat_age_seconds', 'Time since any worker showed itself');
  const outbox = gauge('outbox_lag_seconds', 'Age of the oldest audit entry that is not sealed yet');
  return ({ tasks, nodes, stuckJobs, snapshotAgeSeconds, newestBeatSeconds, outboxLagSeconds }) => {
    for (const one of [ready, oldest, running, failed, beats, age, newest]) one.reset();
    for (const row of tasks) {
      ready.set({ task: row.task }, row.ready);
      oldest.set({ task: row.task }, row.oldestReadySeconds);
      running.set({ task: row.task }, row.running);
      failed.set({ task: row.task }, row.failed);
    }
    for (const node of nodes) beats.set({ node: node.id }, node.beatSeconds);
    stuck.set(stuckJobs);
    if (snapshotAgeSeconds !== null) age.set(snapshotAgeSeconds);
    if (newestBeatSeconds !== null) newest.set(newestBeatSeconds);
    outbox.set(outboxLagSeconds);
  };
}
