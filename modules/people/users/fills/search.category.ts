/** People by name and address: those whom GET /users would show the caller, members and invited people alike. */
import { type Context, defineContribution } from '#core';

interface PersonFound {
  id: string;
  title: string;
  description: string;
  place: 0 | 1 | 2;
}

/** The tenants whose users are found, null for all. Empty for callers whom GET /users refuses. */
function tenantsOf({ scope }: Context): { orgIds: readonly string[] | null; partnerIds: string[] | null } {
  if (scope.kind === 'system') return { orgIds: null, partnerIds: null };
  if (scope.kind === 'organization' && scope.orgId) return { orgIds: [scope.orgId], partnerIds: [] };
  if (scope.kind === 'partner' && scope.partnerId && scope.allOrgs) {
    return { orgIds: scope.orgIds, partnerIds: [scope.partnerId] };
  }
  return { orgIds: [], partnerIds: [] };
}

const of = (table: string) => `($2::uuid[] is null or ${table}.org_id = any($2))`;
const ofPartner = (table: string) => `($3::uuid[] is null or ${table}.partner_id = any($3))`;
const fits = (table: string) =>
  `(strpos(lower(${table}.name), lower($1)) > 0 or strpos(lower(${table}.email), lower($1)) > 0)`;

const PEOPLE = `
select p.id, p.name as title, p.email as description,
  case when lower($1) in (lower(p.name), lower(p.email)) then 0
    when starts_with(lower(p.name), lower($1)) or starts_with(lower(p.email), lower($1)) then 1 else 2 end as place
from (
  select u.id, u.name, u.email from users u
  where (u.id in (select m.user_id from organization_users m where ${of('m')})
    or u.id in (select m.user_id from partner_users m where ${ofPartner('m')})) and ${fits('u')}
  union all
  select i.id, i.name, i.email from invitations i
  where ((i.org_id is not null and ${of('i')}) or (i.partner_id is not null and ${ofPartner('i')})) and ${fits('i')}
) p order by 4, lower(p.name), p.id limit $4`;

export default defineContribution('search.category', {
  type: 'users',
  permission: 'users:read',
  async find(ctx, { text, limit }) {
    const { orgIds, partnerIds } = tenantsOf(ctx);
    return (await ctx.sql<PersonFound>(PEOPLE, [text, orgIds, partnerIds, limit])).rows;
  },
});
