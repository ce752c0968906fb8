/** Worker nodes: listing them, draining one before a stop, and releasing the jobs of a dead one. */
import { type Context, encodeCursor, errors, type PageQuery } from '#core';
import { positionIn } from './rows/cursors.ts';

export interface WorkerNode {
  id: string;
  state: 'running' | 'draining' | 'stopped' | 'lost';
  version: string;
  startedAt: Date;
  heartbeatAt: Date;
  heartbeatAgeSec: number;
  concurrency: number;
  activeJobs: number;
  taskCount: number;
  drainRequestedAt: Date | null;
}

/** Seconds without a heartbeat after which a node is shown as lost, slightly before others take its jobs. */
const SILENT = 15;
const COLUMNS = `id, case when state in ('running', 'draining') and heartbeat_at < now() - interval '${SILENT} seconds'
    then 'lost' when state = 'running' and drain_requested_at is not null then 'draining' else state end as state,
  version, started_at as "startedAt", heartbeat_at as "heartbeatAt",
  extract(epoch from now() - heartbeat_at)::float8 as "heartbeatAgeSec", concurrency, active_jobs as "activeJobs",
  cardinality(tasks) as "taskCount", drain_requested_at as "drainRequestedAt"`;

/** Nodes of the last day, newest first. */
export async function listWorkers(ctx: Context, { page = 1, limit, cursor }: PageQuery): Promise<object> {
  const from = `from worker_nodes where heartbeat_at > now() - interval '1 day'`;
  const order = 'order by started_at desc, id desc';
  if (cursor === undefined) {
    const { rows } = await ctx.sql<WorkerNode>(`select ${COLUMNS} ${from} ${order} limit $1 offset $2`, [
      limit,
      (page - 1) * limit,
    ]);
    const { rows: counted } = await ctx.sql<{ n: number }>(`select count(*)::int as n ${from}`);
    return { data: rows, pagination: { page, limit, total: counted[0]?.n ?? 0 } };
  }
  const after = positionIn('job-workers', cursor, ['time', 'node']);
  const { rows } = await ctx.sql<WorkerNode & { at?: string }>(
    `select ${COLUMNS}, started_at::text as at ${from} ${after ? 'and (started_at, id) < ($2::text::timestamptz, $3)' : ''}
     ${order} limit $1`,
    [limit + 1, ...(after ?? [])],
  );
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  const next = rows.length > limit && last ? encodeCursor('job-workers', [last.at, last.id]) : null;
  for (const row of kept) delete row.at;
  return { data: kept, pagination: { hasMore: next !== null, cursor: next } };
}

export async function readWorker(ctx: Context, id: string): Promise<WorkerNode> {
  const { rows } = await ctx.sql<WorkerNode>(`select ${COLUMNS} from worker_nodes where id = $1`, [id]);
  if (!rows[0]) throw errors.NotFound('Worker not found');
  return rows[0];
}

const refused = (current: string, allowed: string[]) => errors.InvalidState({ details: [{ current, allowed }] });

/** From its next heartbeat it takes no more jobs and finishes its own. Throws 404, and 409 for one that is not running. */
export async function drainWorker(ctx: Context, id: string): Promise<WorkerNode> {
  const { rows } = await ctx.sql(
    `update worker_nodes set drain_requested_at = now()
     where id = $1 and state = 'running' and drain_requested_at is null
       and heartbeat_at >= now() - interval '${SILENT} seconds' returning id`,
    [id],
  );
  const node = await readWorker(ctx, id);
  if (rows.length === 0) throw refused(node.state, ['running']);
  ctx.audit('job.worker.drain', { resourceType: 'worker', resourceName: id, details: { node: id } });
  return node;
}

/** Releases the jobs of a silent node without waiting for the sweep. Throws 404, and 409 for a node that is alive. */
export async function unlockWorker(ctx: Context, id: string): Promise<WorkerNode & { unlocked: number }> {
  const { rows } = await ctx.sql<{ ids: string[] }>(
    `update worker_nodes set state = case when state = 'stopped' then state else 'lost' end, active_jobs = 0
     where id = $1 and (state in ('lost', 'stopped') or heartbeat_at < now() - interval '${SILENT} seconds')
     returning worker_ids as ids`,
    [id],
  );
  const node = await readWorker(ctx, id);
  if (!rows[0]) throw refused(node.state, ['lost', 'stopped']);
  const freed = await ctx.sql<{ n: number }>('select interrupt_jobs($1, $2, $3) as n', [
    rows[0].ids,
    id,
    'Unlocked by an operator',
  ]);
  const unlocked = freed.rows[0]?.n ?? 0;
  ctx.audit('job.worker.unlock', { resourceType: 'worker', resourceName: id, details: { node: id, unlocked } });
  return { ...node, unlocked };
}
