/** What the process measures of itself, in Prometheus' text form. */
import type pg from 'pg';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  observe(route: string, method: string, status: number, seconds: number): void;
  job(task: string, outcome: string, seconds: number): void;
  /** Something happened on a socket of this path. */
  socket(path: string, event: string): void;
  text(): Promise<string>;
}

/** @param pools whose waiting clients show a starved process. */
export function createMetrics(pools: Record<string, pg.Pool>): Metrics {
  const registry = new Registry();
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
  const sockets = new Counter({
    name: 'socket_events_total',
    help: 'What happened on WebSockets, by path',
    labelNames: ['path', 'event'],
    registers: [registry],
  });
  new Gauge({
    name: 'database_pool_waiting',
    help: 'Work waiting for a connection',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, { waitingCount }] of Object.entries(pools)) this.set({ pool }, waitingCount);
    },
  });
  new Gauge({
    name: 'database_pool_connections',
    help: 'Open connections',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount }] of Object.entries(pools)) this.set({ pool }, totalCount);
    },
  });
  return {
    observe: (route, method, status, seconds) => requests.observe({ route, method, status }, seconds),
    job(task, outcome, seconds) {
      jobs.inc({ task, outcome });
      jobSeconds.observe({ task }, seconds);
    },
    socket: (path, event) => sockets.inc({ path, event }),
    text: () => registry.metrics(),
  };
}
