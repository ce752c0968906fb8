/** Reading entries: newest first, filtered, within the caller's reach. */
import { type Context, errors } from '#core';
import type { AuditQuery } from '../../models/audit-log.ts';
import { categoryOf } from '../categories.ts';
import { andSeen } from './limits.ts';
import { pageOfEntries } from './pages.ts';
import { rolesOf } from './roles.ts';
import { COLUMNS, type EntryRow } from './selection.ts';

/** The full list, and with `q` the search. Throws 403 when a named organization is out of reach. */
export async function listEntries(ctx: Context, query: AuditQuery) {
  const { rows, pagination } = await pageOfEntries(ctx, query);
  return { data: await showEntries(ctx, rows), pagination };
}

/** Throws 404 when missing or out of reach. */
export async function readEntry(ctx: Context, id: string) {
  const [shown] = await entriesOf(ctx, [id]);
  if (!shown) throw errors.NotFound('Audit log entry not found');
  return { data: shown };
}

/** Entries by their ids, newest first; those out of reach are left out. */
export async function entriesOf(ctx: Context, ids: string[]) {
  const values: unknown[] = [ids];
  const { rows } = await ctx.sql<EntryRow>(
    `select ${COLUMNS} from audit_logs l where l.id = any($1::uuid[])${andSeen(ctx, values)}
     order by l.timestamp desc, l.id desc`,
    values,
  );
  return showEntries(ctx, rows);
}

export async function showEntries(ctx: Context, rows: readonly EntryRow[]) {
  const roleOf = await rolesOf(ctx, rows);
  return rows.map((row) => {
    const entry = shown(row);
    return { ...entry, user: { ...entry.user, role: roleOf(row) } };
  });
}

/** An entry as it is stored. */
export const shown = (row: EntryRow) => ({
  id: row.id,
  orgId: row.orgId,
  timestamp: row.timestamp,
  user: { id: row.actorId, name: row.actorName, email: row.actorEmail },
  action: row.action,
  resource: { type: row.resourceType, id: row.resourceId, name: row.resourceName },
  category: categoryOf(row.action),
  result: row.result,
  ipAddress: row.ipAddress,
  userAgent: row.userAgent,
  details: row.details,
});
