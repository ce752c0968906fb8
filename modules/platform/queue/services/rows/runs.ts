/** The history: finished attempts, newest first. */
import { type Context, encodeCursor, type PageQuery } from '#core';
import { positionIn } from './cursors.ts';

export interface Run {
  jobId: number;
  task: string;
  attempt: number;
  outcome: string;
  startedAt: Date;
  finishedAt: Date;
  durationMs: number;
  waitMs: number | null;
  errorMessage: string | null;
  errorFingerprint: string | null;
  nodeId: string;
  orgId: string | null;
  subjectType: string | null;
  subjectId: string | null;
}
export interface RunQuery extends PageQuery {
  task?: string;
  outcome?: string;
  jobId?: number;
  orgId?: string;
  nodeId?: string;
  fingerprint?: string;
  since?: Date;
}

const COLUMNS = `job_id as "jobId", task, attempt, outcome, started_at as "startedAt", finished_at as "finishedAt",
  duration_ms as "durationMs", wait_ms as "waitMs", error_message as "errorMessage",
  error_fingerprint as "errorFingerprint", node_id as "nodeId", org_id as "orgId", subject_type as "subjectType",
  subject_id as "subjectId"`;

/** The attempts of one job, oldest first; failures also from before the retention of successes. */
export async function attemptsOf(ctx: Context, jobId: number): Promise<Run[]> {
  const { rows } = await ctx.sql<Run>(
    `select ${COLUMNS} from job_runs where job_id = $1
     union all select ${COLUMNS} from job_failures where job_id = $1
     order by "finishedAt", attempt limit 200`,
    [jobId],
  );
  return rows;
}

const PLACES: Record<string, string> = {
  device: '/devices/',
  organization: '/orgs/organizations/',
  org: '/orgs/organizations/',
};

export const subjectLink = ({ subjectType, subjectId }: Run): string | null => {
  const place = PLACES[subjectType ?? ''];
  return place && subjectId ? `/api/v1${place}${subjectId}` : null;
};

export async function listRuns(ctx: Context, query: RunQuery): Promise<object> {
  const { page = 1, limit, cursor } = query;
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where: string[] = [];
  if (query.task !== undefined) where.push(`task = ${bind(query.task)}`);
  if (query.outcome !== undefined) where.push(`outcome = ${bind(query.outcome)}`);
  if (query.jobId !== undefined) where.push(`job_id = ${bind(query.jobId)}`);
  if (query.orgId !== undefined) where.push(`org_id = ${bind(query.orgId)}`);
  if (query.nodeId !== undefined) where.push(`node_id = ${bind(query.nodeId)}`);
  if (query.fingerprint !== undefined) where.push(`error_fingerprint = ${bind(query.fingerprint)}`);
  if (query.since !== undefined) where.push(`finished_at >= ${bind(query.since)}`);
  const all = () => (where.length > 0 ? `where ${where.join(' and ')}` : '');
  const order = 'order by finished_at desc, job_id desc, attempt desc';
  if (cursor === undefined) {
    const { rows: counted } = await ctx.sql<{ n: number }>(`select count(*)::int as n from job_runs ${all()}`, values);
    const { rows } = await ctx.sql<Run>(
      `select ${COLUMNS} from job_runs ${all()} ${order} limit ${bind(limit)} offset ${bind((page - 1) * limit)}`,
      values,
    );
    return { data: rows, pagination: { page, limit, total: counted[0]?.n ?? 0 } };
  }
  if (cursor !== '') where.push(afterCursor(cursor, bind));
  const { rows } = await ctx.sql<Run & { at?: string }>(
    `select ${COLUMNS}, finished_at::text as at from job_runs ${all()} ${order} limit ${bind(limit + 1)}`,
    values,
  );
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  const next = rows.length > limit && last ? encodeCursor('job-runs', [last.at, last.jobId, last.attempt]) : null;
  for (const row of kept) delete row.at;
  return { data: kept, pagination: { hasMore: next !== null, cursor: next } };
}

function afterCursor(cursor: string, bind: (value: unknown) => string): string {
  const [at, jobId, attempt] = positionIn('job-runs', cursor, ['time', 'number', 'number']) ?? [];
  return `(finished_at, job_id, attempt) < (${bind(at)}::text::timestamptz, ${bind(jobId)}::bigint, ${bind(attempt)}::bigint)`;
}
