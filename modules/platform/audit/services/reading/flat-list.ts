/** The flat list of GET /audit-logs: `entries` beside the paging fields, without an envelope. */
import type { Context } from '#core';
import type { AuditQuery } from '../../models/audit-log.ts';
import { pageOfEntries } from './pages.ts';
import { rolesOf } from './roles.ts';
import type { EntryRow } from './selection.ts';

/** Throws 403 when a named organization is out of reach. */
export async function listFlat(ctx: Context, query: AuditQuery) {
  const { rows, pagination } = await pageOfEntries(ctx, query);
  const roleOf = await rolesOf(ctx, rows);
  const { total, limit = query.limit } = pagination;
  return {
    entries: rows.map((row) => ({
      id: row.id,
      timestamp: row.timestamp,
      action: row.action,
      resource: row.resourceName ?? row.resourceType,
      resourceType: row.resourceType,
      details: JSON.stringify(row.details),
      ipAddress: row.ipAddress,
      userAgent: row.userAgent,
      sessionId: typeof row.details.sessionId === 'string' ? row.details.sessionId : null,
      // The platform stores no departments.
      user: { name: row.actorName, email: row.actorEmail, role: roleOf(row), department: null },
      changes: changesOf(row),
    })),
    pagination: { ...pagination, ...(total === undefined ? {} : { totalPages: Math.ceil(total / limit) }) },
  };
}

/** The changes that the entry contains: values before and after, else the names of the changed fields. */
function changesOf({ details }: Pick<EntryRow, 'details'>): { before: unknown; after: unknown } {
  const { before = null, after, changedFields } = details;
  return { before, after: after ?? (changedFields === undefined ? null : { changedFields }) };
}
