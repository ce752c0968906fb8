/** Worker nodes: a heartbeat each 5 s, and the freeing of jobs whose node died (the queue itself would wait 4 hours). */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';

/** Seconds of silence after which a node counts as dead. */
export const DEAD_AFTER_SECONDS = 15;

export const newNodeId = (): string => `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;

export interface NodeInfo {
  id: string;
  version: string;
  concurrency: number;
  tasks: readonly string[];
  /** Under which names this node locks jobs. */
  workerIds(): string[];
  activeJobs(): number;
}
/** What operators want of a node; it hears it with its beat. */
export interface Wishes {
  drain: boolean;
  paused: string[];
}

export async function beat(pool: pg.Pool, node: NodeInfo, state: 'running' | 'draining' | 'stopped'): Promise<Wishes> {
  const { rows } = await pool.query<Wishes>(
    `insert into worker_nodes as n (id, version, concurrency, worker_ids, state, active_jobs, tasks)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update set heartbeat_at = now(), worker_ids = excluded.worker_ids, state = excluded.state,
       active_jobs = excluded.active_jobs
     returning n.drain_requested_at is not null as drain, array(select task from paused_tasks) as paused`,
    [node.id, node.version, node.concurrency, node.workerIds(), state, node.activeJobs(), node.tasks],
  );
  return rows[0] ?? { drain: false, paused: [] };
}

/**
 * Marks silent nodes lost and unlocks their jobs, so that others run them again. Returns the lost nodes' ids. A node
 * that was only slow shows itself again with its next beat; its job may then run twice, which jobs must bear anyway.
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
  // A node that died before its first beat left no ids: unlock what nobody alive holds.
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
