/** Failed attempts grouped by fingerprint: the same fault with other ids and numbers is one group. */
import { type Context, encodeCursor, type PageQuery } from '#core';
import { positionIn } from './cursors.ts';

export interface FailureGroup {
  fingerprint: string;
  task: string;
  outcome: string;
  count: number;
  firstAt: Date;
  lastAt: Date;
  sample: { jobId: number; message: string | null; nodeId: string; orgId: string | null };
}
const DAY_MS = 86_400_000;

/** Latest first. `since` reaches back at most 30 days; one day when absent. */
export async function listFailures(
  ctx: Context,
  { since, page = 1, limit, cursor }: PageQuery & { since?: Date; groupBy: 'fingerprint' },
): Promise<object> {
  const from = since ?? new Date(Date.now() - DAY_MS);
  const groups = `with runs as (
      select job_id, task, outcome, finished_at, error_message, error_fingerprint, node_id, org_id from job_runs
        where outcome in ('error', 'failed', 'interrupted') and finished_at >= $1
      union all
      select job_id, task, outcome, finished_at, error_message, error_fingerprint, node_id, org_id from job_failures
        where finished_at >= $1),
    groups as (
      select coalesce(error_fingerprint, '') as fingerprint, task, count(*)::int as count, min(finished_at) as first,
        max(finished_at) as last, (array_agg(outcome order by finished_at desc))[1] as outcome,
        (array_agg(json_build_object('jobId', job_id, 'message', error_message, 'nodeId', node_id, 'orgId', org_id)
          order by finished_at desc))[1] as sample
      from runs group by 1, 2)`;
  const columns = `fingerprint, task, outcome, count, first as "firstAt", last as "lastAt", last::text as at, sample`;
  const order = 'order by last desc, fingerprint desc, task desc';
  const shown = (rows: (FailureGroup & { at: string })[]) => rows.map(({ at: _at, ...group }) => group);
  if (cursor === undefined) {
    const { rows } = await ctx.sql<FailureGroup & { at: string; total: number }>(
      `${groups} select ${columns} from groups ${order} limit $2 offset $3`,
      [from, limit, (page - 1) * limit],
    );
    const { rows: counted } = await ctx.sql<{ n: number }>(`${groups} select count(*)::int as n from groups`, [from]);
    return { data: shown(rows), pagination: { page, limit, total: counted[0]?.n ?? 0 } };
  }
  const after = positionIn('job-failures', cursor, ['time', 'print', 'name']);
  const { rows } = await ctx.sql<FailureGroup & { at: string }>(
    `${groups} select ${columns} from groups
     ${after ? 'where (last, fingerprint, task) < ($3::text::timestamptz, $4, $5)' : ''} ${order} limit $2`,
    [from, limit + 1, ...(after ?? [])],
  );
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  const next =
    rows.length > limit && last ? encodeCursor('job-failures', [last.at, last.fingerprint, last.task]) : null;
  return { data: shown(kept), pagination: { hasMore: next !== null, cursor: next } };
}
