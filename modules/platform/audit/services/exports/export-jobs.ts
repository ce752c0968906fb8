/** Exports of any size: requesting one, reading its progress, and downloading it. */
import { Readable } from 'node:stream';
import { type Context, errors, isLimited, type PageQuery, page, type Reply, reply, type SortKey } from '#core';
import { ExportFailed, ExportNotReady, TooManyExports } from '../../errors.ts';
import { ExportJob, type ExportJobRequest } from '../../models/export-job.ts';
import { select } from '../reading/selection.ts';

const MOST_UNFINISHED = 3;
const MOST_KEPT = 50;
/** When to ask again while exports are being written. */
const UNFINISHED_SECONDS = 60;

const ORDER = {
  name: 'audit-exports',
  keys: [
    { expression: 'audit_exports.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'audit_exports.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/**
 * Fixes the caller's reach and the time: later entries are not included. Throws 403 for an organization out of reach,
 * TOO_MANY_EXPORTS.
 */
export async function requestExport(ctx: Context, { format, filters, dateRange }: ExportJobRequest): Promise<Reply> {
  const { actor, scope } = ctx;
  const { orgIds, partnerId } = select(ctx, filters?.orgId ? { orgId: filters.orgId } : {});
  const owner = { orgId: scope.orgId, partnerId: scope.orgId ? null : scope.partnerId };
  await mustHaveRoom(ctx, owner);
  const now = new Date();
  const to = dateRange?.to && dateRange.to < now ? dateRange.to : now;
  const filter = { ...filters, ...dateRange, to, own: partnerId !== null };
  const made = await ExportJob.query(ctx.trx)
    .insert({
      ...owner,
      orgIds: orgIds as string[] | null,
      siteIds: scope.siteIds as string[] | null,
      groupIds: scope.groupIds as string[] | null,
      requestedBy: actor.id,
      requestedByEmail: actor.email,
      format,
      filter,
    })
    .returning('*');
  ctx.addJob('audit/write-export', { exportId: made.id, step: 0 }, { orgId: null, key: `audit-export:${made.id}` });
  ctx.audit('audit_logs.export', {
    resourceType: 'audit_export',
    resourceId: made.id,
    details: { format, filters: { ...filters, ...dateRange } },
  });
  return reply(
    { jobId: made.id, status: made.status },
    { headers: { location: `/api/v1/audit-logs/exports/${made.id}` } },
  );
}

async function mustHaveRoom(ctx: Context, { orgId, partnerId }: Pick<ExportJob, 'orgId' | 'partnerId'>): Promise<void> {
  await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('audit-exports:' || $1, 0))`, [
    orgId ?? partnerId ?? 'platform',
  ]);
  const { rows } = await ctx.sql<{ kept: number; unfinished: number; oldestLasts: number | null }>(
    `select count(*) as kept, count(*) filter (where status in ('pending', 'running')) as unfinished,
       ceil(extract(epoch from min(expires_at) - now()))::int as "oldestLasts" from audit_exports
     where org_id is not distinct from $1 and partner_id is not distinct from $2`,
    [orgId, partnerId],
  );
  const { kept = 0, unfinished = 0, oldestLasts = null } = rows[0] ?? {};
  if (unfinished < MOST_UNFINISHED && kept < MOST_KEPT) return;
  const wait = kept < MOST_KEPT ? UNFINISHED_SECONDS : Math.max(UNFINISHED_SECONDS, oldestLasts ?? 0);
  throw TooManyExports({ headers: { 'retry-after': String(wait) } });
}

/**
 * Callers limited to sites or groups see their own exports, as long as they still reach what those were limited to.
 */
function living(ctx: Context) {
  const { siteIds, groupIds } = ctx.scope;
  const jobs = ExportJob.in(ctx).whereRaw('audit_exports.expires_at > now()');
  if (isLimited(ctx)) jobs.where('audit_exports.requestedBy', ctx.actor.id);
  if (siteIds) jobs.whereRaw('audit_exports.site_ids <@ ?::uuid[]', [siteIds as string[]]);
  if (groupIds) jobs.whereRaw('audit_exports.group_ids <@ ?::uuid[]', [groupIds as string[]]);
  return jobs;
}

const show = (job: ExportJob) => {
  const { own: _, ...filters } = job.filter as ExportJob['filter'] & { own?: boolean };
  const share = job.total ? Math.floor((job.entries * 100) / job.total) : 0;
  return {
    id: job.id,
    orgId: job.orgId,
    requestedBy: job.requestedByEmail,
    format: job.format,
    filters,
    status: job.status,
    progress: job.status === 'completed' ? 100 : Math.min(99, share),
    entries: job.entries,
    bytes: job.bytes,
    createdAt: job.createdAt,
    completedAt: job.completedAt,
    expiresAt: job.expiresAt,
    downloadUrl: job.status === 'completed' ? `/api/v1/audit-logs/exports/${job.id}/download` : null,
  };
};

export const listExports = (ctx: Context, query: PageQuery) =>
  page(living(ctx), query, ORDER, show as (job: ExportJob) => never);

async function mustExist(ctx: Context, id: string): Promise<ExportJob> {
  const job = await living(ctx).findById(id);
  if (!job) throw errors.NotFound('Export not found');
  return job;
}

export const readExport = async (ctx: Context, id: string) => ({ data: show(await mustExist(ctx, id)) });

/** The file, read in chunks at the caller's pace. Throws EXPORT_NOT_READY, EXPORT_FAILED. */
export async function downloadExport(ctx: Context, id: string): Promise<Reply> {
  const job = await mustExist(ctx, id);
  if (job.status === 'failed') throw ExportFailed();
  if (job.status !== 'completed') throw ExportNotReady();
  ctx.audit('audit_logs.export.download', {
    resourceType: 'audit_export',
    resourceId: id,
    details: { format: job.format, rows: job.entries },
  });
  const day = job.createdAt.toISOString().slice(0, 10);
  return reply(Readable.from(chunksOf(ctx, job), { objectMode: false }), {
    type: 'application/gzip',
    headers: { 'content-disposition': `attachment; filename="audit-logs-${day}.${job.format}.gz"` },
  });
}

/** One transaction for each chunk: the caller may be slow. */
async function* chunksOf(ctx: Context, { id, chunks }: ExportJob): AsyncGenerator<Buffer> {
  for (let seq = 0; seq < chunks; seq += 1) {
    const { rows } = await ctx.asPlatform((platform) =>
      platform.sql<{ data: Buffer }>('select data from audit_export_chunks where export_id = $1 and seq = $2', [
        id,
        seq,
      ]),
    );
    const [chunk] = rows;
    if (!chunk) throw new Error('the export was deleted while it was downloaded');
    yield chunk.data;
  }
}
