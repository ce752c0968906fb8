/** Immediate exports: at most 10,000 entries, read through a database cursor. */
import { type Context, type Reply, reply } from '#core';
import type { CsvQuery, ExportRequest } from '../../models/audit-export.ts';
import type { AuditFilter } from '../../models/audit-log.ts';
import { selectByNames } from '../reading/names.ts';
import { type EntryRow, newest } from '../reading/selection.ts';
import { csvLines, jsonLines } from './export-rows.ts';
import { spool } from './spools.ts';

const MAX_ENTRIES = 10_000;
const FETCH = 500;

export const exportEntries = (ctx: Context, { format, filters, dateRange }: ExportRequest): Promise<Reply> =>
  exportAs(ctx, format, { ...filters, ...dateRange });

export const exportCsv = (ctx: Context, { userId, ...filter }: CsvQuery): Promise<Reply> =>
  exportAs(ctx, 'csv', { ...filter, ...(userId ? { actorId: userId } : {}) });

/** Throws 403 when a named organization is out of reach. */
async function exportAs(ctx: Context, format: 'csv' | 'json', filter: AuditFilter): Promise<Reply> {
  const { text, values } = newest(await selectByNames(ctx, filter), { limit: MAX_ENTRIES });
  let total = 0;
  const body = await spool(async (put) => {
    if (format === 'csv') await put(csvLines([], { header: true }));
    else await put('{"data":[');
    for await (const rows of batches(ctx, text, values)) {
      await put(
        format === 'csv' ? csvLines(rows, { header: false }) : (total > 0 ? ',\n' : '\n') + jsonLines(rows).join(',\n'),
      );
      total += rows.length;
    }
    if (format === 'json') await put(`\n],"total":${total}}\n`);
  });
  const { orgId, ...filters } = filter;
  ctx.audit('audit_logs.export', {
    ...(orgId ? { orgId } : {}),
    resourceType: 'audit_logs',
    details: { format, rows: total, filters },
  });
  const name = `audit-logs-${new Date().toISOString().slice(0, 10)}.${format}`;
  return reply(body, {
    type: format === 'csv' ? 'text/csv' : 'application/json',
    headers: { 'content-disposition': `attachment; filename="${name}"` },
  });
}

async function* batches(ctx: Context, text: string, values: unknown[]): AsyncGenerator<EntryRow[]> {
  await ctx.sql(`declare audit_export no scroll cursor for ${text}`, values);
  for (;;) {
    const { rows } = await ctx.sql<EntryRow>(`fetch ${FETCH} from audit_export`);
    if (rows.length > 0) yield rows;
    if (rows.length < FETCH) break;
  }
  await ctx.sql('close audit_export');
}
