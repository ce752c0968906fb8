/** Worker nodes: their heartbeats, and the release of jobs whose node died (the queue itself would wait four hours). */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';
import { queryWithin } from '../database/connections/silence.ts';

/** Seconds of silence after which a node counts as dead. */
export const DEAD_AFTER_SECONDS = 15;

/** Milliseconds in which the answer to a heartbeat must come; the next one would be due. */
const HEARTBEAT_ANSWER_MS = 5_000;

export const newNodeId = (): string => `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;

export interface NodeInfo {
  id: string;
  version: string;
  concurrency: number;
  tasks: readonly string[];
  /** The names under which this node locks jobs. */
  workerIds(): string[];
  activeJobs(): number;
}
/** What operators request of a node; each heartbeat returns it. */
export interface NodeRequests {
  drain: boolean;
  paused: string[];
}

export async function sendHeartbeat(
  pool: pg.Pool,
  node: NodeInfo,
  state: 'running' | 'draining' | 'stopped',
): Promise<NodeRequests> {
  const text = `insert into worker_nodes as n (id, version, concurrency, worker_ids, state, active_jobs, tasks)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update set heartbeat_at = now(), worker_ids = excluded.worker_ids, state = excluded.state,
       active_jobs = excluded.active_jobs
     returning n.drain_requested_at is not null as drain, array(select task from paused_tasks) as paused`;
  const values = [node.id, node.version, node.concurrency, node.workerIds(), state, node.activeJobs(), node.tasks];
  const { rows } = await queryWithin<NodeRequests>(pool, HEARTBEAT_ANSWER_MS, { text, values });
  return rows[0] ?? { drain: false, paused: [] };
}

/**
 * Marks silent nodes as lost and unlocks their jobs, so that other nodes run them again. Returns the ids of the lost nodes. A
 * node that was only slow returns with its next heartbeat; its job may then run twice, which every job must allow for.
 */
export async function freeDeadNodes(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string; jobs: number }>(
    `with lost as (
       update worker_nodes set state = 'lost', active_jobs = 0
       where state in ('running', 'draining') and heartbeat_at < now() - make_interval(secs => $1)
       returning id, worker_ids)
     select id, interrupt_jobs(worker_ids, id, 'The worker fell silent') as jobs from lost`,
    [DEAD_AFTER_SECONDS],
  );
  // A node that died before its first heartbeat left no ids: unlock jobs that no running node holds.
  await pool.query(
    `select interrupt_jobs(array_agg(distinct j.locked_by), 'unknown', 'No living worker held it')
     from graphile_worker.jobs j
     where j.locked_at < now() - make_interval(secs => $1) and not exists (
       select from worker_nodes n where n.state in ('running', 'draining') and j.locked_by = any(n.worker_ids))
     having count(*) > 0`,
    [DEAD_AFTER_SECONDS * 2],
  );
  await pool.query(
    `delete from worker_nodes where state in ('lost', 'stopped') and heartbeat_at < now() - interval '7 days'`,
  );
  return rows.map((row) => row.id);
}
