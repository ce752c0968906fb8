/** Jobs in the queue, row by row, in both list forms. */
import { type Context, encodeCursor, errors, type PageQuery, redactMessage } from '#core';
import type { JobFilter, JobRow } from '../../models/shapes.ts';
import { stuckAfter } from '../watching/figures.ts';
import { positionIn } from './cursors.ts';
import { attemptsOf, subjectLink } from './runs.ts';

const COLUMNS = `id, task, queue, key, priority, run_at as "runAt", attempts, max_attempts as "maxAttempts",
  last_error as "lastError", created_at as "createdAt", updated_at as "updatedAt", locked_at as "lockedAt",
  org_id as "orgId", node_id as "nodeId", state`;

export type Selection = JobFilter & { id?: number; ids?: number[] };

export async function selectJobs(
  ctx: Context,
  selection: Selection,
  { after = 0, skip = 0, most }: { after?: number; skip?: number; most: number },
): Promise<JobRow[]> {
  const { rows } = await ctx.sql<JobRow>(`select ${COLUMNS} from queue_jobs($1, $2, $3, $4, $5)`, [
    JSON.stringify(selection),
    JSON.stringify(await stuckAfter(ctx)),
    after,
    skip,
    most,
  ]);
  return rows.map((row) => ({ ...row, lastError: row.lastError === null ? null : redactMessage(row.lastError) }));
}

export async function countJobs(ctx: Context, selection: Selection): Promise<number> {
  const { rows } = await ctx.sql<{ n: number }>('select count(*)::int as n from queue_jobs($1, $2, 0, 0, null)', [
    JSON.stringify(selection),
    JSON.stringify(await stuckAfter(ctx)),
  ]);
  return rows[0]?.n ?? 0;
}

/** By id. Throws INVALID_CURSOR. */
export async function listJobs(
  ctx: Context,
  { page = 1, limit, cursor, ...filter }: PageQuery & JobFilter,
): Promise<object> {
  if (cursor === undefined) {
    const data = await selectJobs(ctx, filter, { skip: (page - 1) * limit, most: limit });
    return { data, pagination: { page, limit, total: await countJobs(ctx, filter) } };
  }
  const after = Number(positionIn('jobs', cursor, ['number'])?.[0] ?? 0);
  const rows = await selectJobs(ctx, filter, { after, most: limit + 1 });
  const data = rows.slice(0, limit);
  const next = rows.length > limit ? encodeCursor('jobs', [data.at(-1)?.id]) : null;
  return { data, pagination: { hasMore: next !== null, cursor: next } };
}

/** Throws 404 for a job that is not in the queue. */
export async function mustExist(ctx: Context, id: number): Promise<JobRow> {
  const [row] = await selectJobs(ctx, { id }, { most: 1 });
  if (!row)
    throw errors.NotFound(
      `Job ${id} is not in the queue: it finished or never existed. See /admin/jobs/runs?jobId=${id}`,
    );
  return row;
}

/** The job, its attempts so far, and its subject. */
export async function readJob(ctx: Context, id: number): Promise<object> {
  const row = await mustExist(ctx, id);
  const attempts = await attemptsOf(ctx, id);
  const about = attempts.find(({ subjectId }) => subjectId !== null);
  const subject = about ? { type: about.subjectType, id: about.subjectId, link: subjectLink(about) } : null;
  return { ...row, attempted: attempts, subject };
}
