/** Writing an export in steps; each is one transaction and takes effect once, however often it is retried. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from '#core';
import { ExportJob, type ExportPosition } from '../../models/export-job.ts';
import { seenEntries } from '../reading/limits.ts';
import { type EntryRow, newest, parameterOf, type Selection, select, whole } from '../reading/selection.ts';
import { csvLines, jsonLines } from './export-rows.ts';

const STEP_ENTRIES = 20_000;
const FETCH = 500;
/** Uncompressed characters in a gzip member; incompressible text still fits in a chunk. */
const MEMBER_CHARACTERS = 450_000;
const CHUNK_BYTES = 1_048_576;
const compress = promisify(gzip);

type Filter = ExportJob['filter'] & { own?: boolean };

/** Returns without effect when the step is done already, or the export no longer exists. */
export async function writeStep(ctx: Context, exportId: string, step: number): Promise<void> {
  const job = await ExportJob.in(ctx)
    .findById(exportId)
    .where({ step })
    .whereIn('status', ['pending', 'running'])
    .forUpdate();
  if (!job) return;
  const trails = trailsOf(job);
  const total = job.total ?? (await totalOf(ctx, job, trails));
  const position: ExportPosition = job.position ?? { trail: 0, after: null };
  const writer = new MemberWriter(ctx, job);
  if (step === 0 && job.format === 'csv') await writer.put(csvLines([], { header: true }));
  let left = STEP_ENTRIES;
  while (left > 0 && position.trail < trails.length) {
    const selection = selectionOf(ctx, job, trails[position.trail] as Trail);
    const query = newest(selection, {
      limit: Math.min(left, FETCH),
      ...(position.after ? { after: position.after } : {}),
    });
    const { rows } = await ctx.sql<EntryRow>(query.text, query.values);
    const last = rows.at(-1);
    if (last) {
      await writer.put(job.format === 'csv' ? csvLines(rows, { header: false }) : `${jsonLines(rows).join('\n')}\n`);
      position.after = { at: last.at, id: last.id };
    }
    if (rows.length < Math.min(left, FETCH)) {
      position.trail += 1;
      position.after = null;
    }
    left -= rows.length;
  }
  await writer.end();
  const ended = position.trail >= trails.length;
  await ExportJob.in(ctx)
    .where({ id: exportId, step })
    .patch({
      status: ended ? 'completed' : 'running',
      step: step + 1,
      position,
      total,
      entries: job.entries + STEP_ENTRIES - left,
      bytes: job.bytes + writer.bytes,
      chunks: writer.chunks,
      updatedAt: new Date(),
      ...(ended ? { completedAt: new Date() } : {}),
    });
  if (!ended)
    ctx.addJob('audit/write-export', { exportId, step: step + 1 }, { orgId: null, key: `audit-export:${exportId}` });
}

type Trail = Pick<Selection, 'orgIds' | 'partnerId'>;

/** Organizations are read one after another, each through its own index. */
function trailsOf({ orgIds, partnerId, filter }: ExportJob): Trail[] {
  if (orgIds === null) return [{ orgIds: null, partnerId: null }];
  const trails: Trail[] = orgIds.map((id) => ({ orgIds: [id], partnerId: null }));
  return partnerId && (filter as Filter).own ? [...trails, { orgIds: [], partnerId }] : trails;
}

function selectionOf(ctx: Context, job: ExportJob, trail: Trail): Selection {
  const { orgId: _, own: __, from, to, ...parts } = job.filter as Filter;
  const range = {
    ...(from ? { from: new Date(from) } : {}),
    ...(to ? { to: new Date(to) } : {}),
  };
  const selection = { ...select(ctx, { ...parts, ...range }), ...trail };
  const { orgIds, siteIds, groupIds, requestedBy: id } = job;
  const seen = seenEntries({ actor: { id }, scope: { orgIds, siteIds, groupIds } }, parameterOf(selection));
  if (seen) selection.conditions.push(seen);
  return selection;
}

async function totalOf(ctx: Context, job: ExportJob, trails: Trail[]): Promise<number> {
  let total = 0;
  for (const trail of trails) {
    const { from, values } = whole(selectionOf(ctx, job, trail));
    const { rows } = await ctx.sql<{ total: number }>(`select count(*) as total ${from}`, values);
    total += rows[0]?.total ?? 0;
  }
  return total;
}

/** Collects text into gzip members; concatenated members are one gzip file (RFC 1952). */
class MemberWriter {
  bytes = 0;
  chunks: number;
  private readonly ctx: Context;
  private readonly exportId: string;
  private text: string[] = [];
  private characters = 0;

  constructor(ctx: Context, { id, chunks }: ExportJob) {
    this.ctx = ctx;
    this.exportId = id;
    this.chunks = chunks;
  }

  async put(text: string): Promise<void> {
    this.text.push(text);
    this.characters += text.length;
    if (this.characters >= MEMBER_CHARACTERS) await this.end();
  }

  async end(): Promise<void> {
    if (this.characters === 0) return;
    const member = await compress(this.text.join(''));
    this.text = [];
    this.characters = 0;
    for (let start = 0; start < member.length; start += CHUNK_BYTES) {
      await this.ctx.sql('insert into audit_export_chunks (export_id, seq, data) values ($1, $2, $3)', [
        this.exportId,
        this.chunks,
        member.subarray(start, start + CHUNK_BYTES),
      ]);
      this.chunks += 1;
    }
    this.bytes += member.length;
  }
}

/** Deletes expired exports in batches, and marks those as failed that no job works on any more. */
export async function sweepExports(ctx: Context): Promise<void> {
  await ctx.sql(
    `update audit_exports set status = 'failed', updated_at = now()
     where status in ('pending', 'running') and updated_at < now() - interval '6 hours'`,
  );
  await ctx.sql(
    'delete from audit_exports where id in (select id from audit_exports where expires_at < now() order by expires_at limit 20)',
  );
}
