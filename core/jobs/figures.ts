/** What of the queue is worth a metric: the last snapshot, the workers' heartbeats and the lag of the audit outbox. */
import type pg from 'pg';

export interface QueueFigures {
  tasks: { task: string; ready: number; running: number; failed: number; oldestReadySeconds: number }[];
  nodes: { id: string; heartbeatSeconds: number }[];
  stuckJobs: number;
  /** Null before the first snapshot. */
  snapshotAgeSeconds: number | null;
  /** Null before the first worker. */
  newestHeartbeatSeconds: number | null;
  outboxLagSeconds: number;
}

/** One query, and no look at the queue itself: frequent scans would slow it down. */
export async function readFigures(pool: pg.Pool): Promise<QueueFigures> {
  const { rows } = await pool.query<QueueFigures>(
    `select
       coalesce((select json_agg(json_build_object('task', task, 'ready', ready, 'running', locked, 'failed', failed,
         'oldestReadySeconds', coalesce(extract(epoch from now() - oldest_ready_at), 0)))
         from queue_snapshots where at = l.at and task <> ''), '[]') as tasks,
       coalesce((select json_agg(json_build_object('id', id, 'heartbeatSeconds', extract(epoch from now() - heartbeat_at)))
         from worker_nodes where state in ('running', 'draining')), '[]') as nodes,
       coalesce((select stuck from queue_snapshots where at = l.at and task = ''), 0) as "stuckJobs",
       extract(epoch from now() - l.at)::float8 as "snapshotAgeSeconds",
       (select extract(epoch from now() - max(heartbeat_at))::float8 from worker_nodes) as "newestHeartbeatSeconds",
       coalesce((select extract(epoch from now() - (entry ->> 'at')::timestamptz)::float8 from audit_outbox order by id limit 1), 0) as "outboxLagSeconds"
     from (select max(at) as at from queue_snapshots) l`,
  );
  const [figures] = rows;
  if (!figures) throw new Error('the queue has no figures');
  return figures;
}

/** Organizations of whom much waits, as the last snapshot counted them. */
export async function readBacklogs(pool: pg.Pool): Promise<{ ageMs: number; waiting: Map<string, number> }> {
  const { rows } = await pool.query<{ ageMs: number | null; lanes: Record<string, number> | null }>(
    `select extract(epoch from now() - (select max(at) from queue_snapshots))::float8 * 1000 as "ageMs",
       (select json_object_agg(org_id, waiting) from queue_lanes) as lanes`,
  );
  const [row] = rows;
  return { ageMs: row?.ageMs ?? Number.POSITIVE_INFINITY, waiting: new Map(Object.entries(row?.lanes ?? {})) };
}
