/** Reading entries: newest first, filtered, within the caller's reach. */
import { type Context, errors, mustAccessOrg, page, type SortKey } from '#core';
import { AuditLog, type AuditQuery } from '../models/audit-log.ts';
import { categoryOf } from './categories.ts';

const ORDER = {
  name: 'audit-newest',
  keys: [
    { expression: 'audit_logs.timestamp', direction: 'desc', type: 'timestamptz' },
    { expression: 'audit_logs.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** The text anywhere in a column; its own % and _ stand for themselves. */
const like = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

function filtered(ctx: Context, query: AuditQuery) {
  const { user, action, resource, from, to } = query;
  const entries = AuditLog.in(ctx);
  // Saying it also for an organization's own users lets the index of that organization serve them.
  const orgId = query.orgId ?? ctx.scope.orgId;
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    entries.where({ orgId });
  }
  if (user) entries.whereRaw('(actor_email ilike ? or actor_name ilike ?)', [like(user), like(user)]);
  if (action) entries.whereRaw('action ilike ?', [like(action)]);
  if (resource) entries.whereRaw('(resource_type ilike ? or resource_name ilike ?)', [like(resource), like(resource)]);
  if (from) entries.where('timestamp', '>=', from);
  if (to) entries.where('timestamp', '<=', to);
  return entries;
}

/** Throws 403 when a named organization is out of reach. */
export async function listEntries(ctx: Context, query: AuditQuery) {
  const entries = filtered(ctx, query);
  if (!query.skipCount || query.cursor !== undefined) {
    const { data, pagination } = await page(entries, query, ORDER);
    return { data: await show(ctx, data), pagination };
  }
  const { page: number = 1, limit } = query;
  const rows = await entries
    .orderByRaw('audit_logs.timestamp desc, audit_logs.id desc')
    .limit(limit)
    .offset((number - 1) * limit);
  return { data: await show(ctx, rows), pagination: { page: number, limit } };
}

/** Throws 404 when missing or in another organization. */
export async function readEntry(ctx: Context, id: string) {
  const entry = await AuditLog.in(ctx).findById(id);
  const [shown] = entry ? await show(ctx, [entry]) : [];
  if (!shown) throw errors.NotFound('Audit log entry not found');
  return { data: shown };
}

async function show(ctx: Context, rows: AuditLog[]) {
  const roles = await rolesOf(ctx, rows);
  return rows.map((row) => ({
    id: row.id,
    orgId: row.orgId,
    timestamp: row.timestamp,
    user: {
      id: row.actorId,
      name: row.actorName,
      email: row.actorEmail,
      role: roles.get(`${row.actorId} ${row.orgId}`) ?? roles.get(`${row.actorId} null`) ?? null,
    },
    action: row.action,
    resource: { type: row.resourceType, id: row.resourceId, name: row.resourceName },
    category: categoryOf(row.action),
    result: row.result,
    ipAddress: row.ipAddress,
    userAgent: row.userAgent,
    details: row.details,
  }));
}

/** Names of the roles that the actors hold today, as far as the caller may see them: the organization's, else the partner's. */
async function rolesOf(ctx: Context, rows: AuditLog[]): Promise<Map<string, string>> {
  const users = [...new Set(rows.filter((row) => row.actorType === 'user').map((row) => row.actorId))];
  if (users.length === 0) return new Map();
  const found = await ctx.sql<{ userId: string; orgId: string | null; role: string }>(
    `select u.user_id as "userId", u.org_id as "orgId", r.name as role
     from organization_users u join roles r on r.id = u.role_id where u.user_id = any($1)
     union all
     select u.user_id, null, r.name from partner_users u join roles r on r.id = u.role_id where u.user_id = any($1)`,
    [users],
    'audit-roles',
  );
  return new Map(found.rows.map(({ userId, orgId, role }) => [`${userId} ${orgId}`, role]));
}
