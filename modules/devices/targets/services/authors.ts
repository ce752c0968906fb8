/** What the author of something reaches now: who lost access acts no more through what runs unattended. */
import type { Context } from '#core';
import type { Author, TargetOwner } from '../models/resolved.ts';

export interface Limits {
  orgIds: readonly string[] | null;
  siteIds: readonly string[] | null;
  groupIds: readonly string[] | null;
}
export const UNLIMITED: Limits = { orgIds: null, siteIds: null, groupIds: null };

// The widest of the author's memberships counts. Limits of an organization's user are empty where there are none.
const OF_USER = `
select x.org_ids as "orgIds", x.site_ids as "siteIds", x.group_ids as "groupIds" from (
  select 1 as place, null::uuid[] as org_ids, null::uuid[] as site_ids, null::uuid[] as group_ids
  from system_users s where s.user_id = $1
  union all
  select 2, case when m.org_access = 'selected' then m.org_ids end, null, null
  from partner_users m join partners p on p.id = m.partner_id and p.status = 'active' and p.deleted_at is null
  where m.user_id = $1 and m.org_access in ('all', 'selected')
    and p.id = coalesce($3, (select o.partner_id from organizations o where o.id = $2))
    and ($2::uuid is null or m.org_access = 'all' or $2 = any (m.org_ids))
  union all
  select 3, array[m.org_id], nullif(m.site_ids, '{}'), nullif(m.device_group_ids, '{}')
  from organization_users m where m.user_id = $1 and m.org_id = $2) x
join users u on u.id = $1 and u.status = 'active'
order by x.place limit 1`;
const OF_KEY = `
select array[k.org_id] as "orgIds", null as "siteIds", null as "groupIds" from api_keys k
where k.id = $1 and k.status = 'active' and (k.expires_at is null or k.expires_at > now()) and k.org_id is not distinct from $2::uuid
  and $3::uuid is null`;

/** Null where the author reaches nothing of the owner any more. One statement, in the platform's role. */
export async function reachOfAuthor(ctx: Context, author: Author, owner: TargetOwner): Promise<Limits | null> {
  const { userId, apiKeyId } = author;
  if (!userId && !apiKeyId) return UNLIMITED;
  return ctx.asPlatform(async (own) => {
    const values = [userId ?? apiKeyId, owner.orgId, owner.partnerId];
    const { rows } = await own.sql<Limits & Record<string, unknown>>(userId ? OF_USER : OF_KEY, values);
    return rows[0] ?? null;
  });
}
