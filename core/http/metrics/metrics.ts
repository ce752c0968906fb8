/** The metrics of the process, in the text format of Prometheus. */
import type pg from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { SharedPool } from '../../database/pools.ts';
import type { QueueFigures } from '../../jobs/figures.ts';
import type { JobMetrics } from '../../jobs/job-metrics.ts';

export interface Metrics extends JobMetrics {
  observe(route: string, method: string, status: number, seconds: number): void;
  /** Records how long a client waited for a connection of the pool. */
  poolWait(pool: string, seconds: number): void;
  /** Counts an event on a socket of this path. */
  socket(path: string, event: string): void;
  /** A module package cannot be used in this process. */
  packageFault(name: string, module: string): void;
  /** Adds the pools, and figures that are read from the database at each scrape. */
  watchDatabase(pools: Record<string, pg.Pool>, figures: () => Promise<QueueFigures>): void;
  text(): Promise<string>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // The sums of nodejs_active_*: gauges, whose names Prometheus' conventions do not allow.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const process = processMetrics(registry);
  const jobs = jobMetrics(registry);
  const queue = queueGauges(registry);
  let readFigures: (() => Promise<QueueFigures>) | undefined;
  return {
    ...process,
    ...jobs,
    watchDatabase(pools, figures) {
      poolGauges(registry, pools);
      readFigures = figures;
    },
    async text() {
      // A scrape without the figures of the queue is better than none.
      const figures = await readFigures?.().catch(() => undefined);
      if (figures) queue(figures);
      return registry.metrics();
    },
  };
}

function processMetrics(registry: Registry): Pick<Metrics, 'observe' | 'poolWait' | 'socket' | 'packageFault'> {
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its answer',
    labelNames: ['route', 'method', 'status'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
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
  return {
    observe: (route, method, status, seconds) => requests.observe({ route, method, status }, seconds),
    poolWait: (pool, seconds) => waits.observe({ pool }, seconds),
    socket: (path, event) => sockets.inc({ path, event }),
    packageFault: (name, module) => faults.set({ package: name, module }, 1),
  };
}

function jobMetrics(registry: Registry): JobMetrics {
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
  const deferrals = new Counter({
    name: 'jobs_put_off_total',
    help: 'Jobs that were fetched and went back at once, by task',
    labelNames: ['task'],
    registers: [registry],
  });
  return {
    job(task, outcome, seconds) {
      jobs.inc({ task, outcome });
      jobSeconds.observe({ task }, seconds);
    },
    deferral: (task) => deferrals.inc({ task }),
  };
}

/** Those for whom no connection is free, and those whose share is in use. */
const waitersOf = (pool: pg.Pool): number => pool.waitingCount + (pool instanceof SharedPool ? pool.shares.waiting : 0);

function poolGauges(registry: Registry, pools: Record<string, pg.Pool>): void {
  const gauge = (name: string, help: string, read: (pool: pg.Pool) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers: [registry],
      collect() {
        for (const [pool, one] of Object.entries(pools)) this.set({ pool }, read(one));
      },
    });
  gauge('database_pool_waiting', 'Work waiting for a connection', waitersOf);
  gauge('database_pool_connections', 'Open connections', (pool) => pool.totalCount);
}

/** The gauges of the queue. Returns a function that sets them; tasks and nodes that are gone disappear. */
function queueGauges(registry: Registry): (figures: QueueFigures) => void {
  const gauge = (name: string, help: string, label?: string) =>
    new Gauge({ name, help, labelNames: label ? [label] : [], registers: [registry] });
  const ready = gauge('jobs_ready', 'Jobs that could start now, by task', 'task');
  const oldest = gauge('jobs_oldest_ready_seconds', 'Age of the oldest job that could start, by task', 'task');
  const running = gauge('jobs_running', 'Jobs that run, by task', 'task');
  const failed = gauge('jobs_failed', 'Jobs without attempts left, by task', 'task');
  const stuck = gauge('jobs_stuck', 'Jobs whose worker is lost or that run far too long');
  const age = gauge('queue_snapshot_age_seconds', 'Time since the queue was counted');
  const heartbeats = gauge('worker_heartbeat_age_seconds', 'Time since a worker showed itself, by node', 'node');
  const newest = gauge('worker_newest_heartbeat_age_seconds', 'Time since any worker showed itself');
  const outbox = gauge('outbox_lag_seconds', 'Age of the oldest audit entry that is not sealed yet');
  return ({ tasks, nodes, stuckJobs, snapshotAgeSeconds, newestHeartbeatSeconds, outboxLagSeconds }) => {
    for (const one of [ready, oldest, running, failed, heartbeats, age, newest]) one.reset();
    for (const row of tasks) {
      ready.set({ task: row.task }, row.ready);
      oldest.set({ task: row.task }, row.oldestReadySeconds);
      running.set({ task: row.task }, row.running);
      failed.set({ task: row.task }, row.failed);
    }
    for (const node of nodes) heartbeats.set({ node: node.id }, node.heartbeatSeconds);
    stuck.set(stuckJobs);
    if (snapshotAgeSeconds !== null) age.set(snapshotAgeSeconds);
    if (newestHeartbeatSeconds !== null) newest.set(newestHeartbeatSeconds);
    outbox.set(outboxLagSeconds);
  };
}
