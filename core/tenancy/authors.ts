/** The person or API key in whose name something runs later: who that is now, and what it reaches now. */
import type { Actor, Context, Scope } from '../context/index.ts';
import { NOBODY } from '../context/index.ts';
import type { TenantRef } from './administrators.ts';

/** At most one of them is set; neither where the server itself made it. */
export interface Author {
  userId?: string | null;
  apiKeyId?: string | null;
}

/** What an author reaches of an owner; null means no limit. */
export type AuthorLimits = Pick<Scope, 'orgIds' | 'siteIds' | 'groupIds'>;

/** An author as of now, for `Context.inNameOf`. */
export interface AuthorNow {
  actor: Actor;
  limits: AuthorLimits;
}

// The widest of the author's memberships counts. Limits of an organization's user are empty where there are none.
const OF_USER = `
select 'user' as kind, u.id, u.email, u.name, x.org_ids as "orgIds", x.site_ids as "siteIds", x.group_ids as "groupIds",
  x.role_id as "roleId", (
  with recursive chain as (
    select id, parent_role_id, 1 as depth from roles where id = x.role_id
    union all select r.id, r.parent_role_id, chain.depth + 1 from roles r join chain on r.id = chain.parent_role_id
    where chain.depth < 20)
  select coalesce(array_agg(distinct p.resource || ':' || p.action), '{}') from chain
  join role_permissions rp on rp.role_id = chain.id join permissions p on p.id = rp.permission_id) as permissions
from (
  select 1 as place, null::uuid[] as org_ids, null::uuid[] as site_ids, null::uuid[] as group_ids, s.role_id
  from system_users s where s.user_id = $1
  union all
  select 2, case when m.org_access = 'selected' then m.org_ids end, null, null, m.role_id
  from partner_users m join partners p on p.id = m.partner_id and p.status = 'active' and p.deleted_at is null
  where m.user_id = $1 and m.org_access in ('all', 'selected')
    and p.id = coalesce($3, (select o.partner_id from organizations o where o.id = $2))
    and ($2::uuid is null or m.org_access = 'all' or $2 = any (m.org_ids))
  union all
  select 3, array[m.org_id], nullif(m.site_ids, '{}'), nullif(m.device_group_ids, '{}'), m.role_id
  from organization_users m where m.user_id = $1 and m.org_id = $2) x
join users u on u.id = $1 and u.status = 'active'
order by x.place limit 1`;
const OF_KEY = `
select 'api_key' as kind, k.id, null as email, k.name, array[k.org_id] as "orgIds", null as "siteIds", null as "groupIds",
  null as "roleId", k.scopes as permissions
from api_keys k
where k.id = $1 and k.status = 'active' and (k.expires_at is null or k.expires_at > now()) and k.org_id is not distinct from $2::uuid
  and $3::uuid is null`;

interface AuthorRow extends AuthorLimits {
  kind: 'user' | 'api_key';
  id: string;
  email: string | null;
  name: string;
  roleId: string | null;
  permissions: string[];
}

/**
 * Null where the author reaches nothing of the owner any more. One statement, in the platform's role; none for the server itself.
 * The second factor is not the author's at this moment: `mfa` is false.
 */
export async function authorNow(
  ctx: Context,
  { userId, apiKeyId }: Author,
  owner: TenantRef,
): Promise<AuthorNow | null> {
  if (!userId && !apiKeyId)
    return { actor: { ...NOBODY, kind: 'system' }, limits: { orgIds: null, siteIds: null, groupIds: null } };
  const values = [userId ?? apiKeyId, owner.orgId, owner.partnerId];
  const { rows } = await ctx.asPlatform((own) =>
    own.sql<AuthorRow & Record<string, unknown>>(userId ? OF_USER : OF_KEY, values),
  );
  const [row] = rows;
  if (!row) return null;
  const { orgIds, siteIds, groupIds, permissions, kind, id, email, name, roleId } = row;
  return {
    actor: { ...NOBODY, kind, id, email, name, roleId, permissions: new Set(permissions) },
    limits: { orgIds, siteIds, groupIds },
  };
}
