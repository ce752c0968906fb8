/** The current roles of actors; entries do not store them. */
import type { Context } from '#core';
import type { EntryRow } from './selection.ts';

type Actor = Pick<EntryRow, 'actorId' | 'actorType' | 'orgId'>;

/** Role names that the caller may see: the role in the entry's organization, else the partner's. */
export async function rolesOf(ctx: Context, rows: readonly Actor[]): Promise<(row: Actor) => string | null> {
  const users = [...new Set(rows.filter((row) => row.actorType === 'user').map((row) => row.actorId))];
  if (users.length === 0) return () => null;
  const found = await ctx.sql<{ userId: string; orgId: string | null; role: string }>(
    `select u.user_id as "userId", u.org_id as "orgId", r.name as role
     from organization_users u join roles r on r.id = u.role_id where u.user_id = any($1)
     union all
     select u.user_id, null, r.name from partner_users u join roles r on r.id = u.role_id where u.user_id = any($1)`,
    [users],
    'audit-roles',
  );
  const roles = new Map(found.rows.map(({ userId, orgId, role }) => [`${userId} ${orgId}`, role]));
  return ({ actorId, orgId }) => roles.get(`${actorId} ${orgId}`) ?? roles.get(`${actorId} null`) ?? null;
}
