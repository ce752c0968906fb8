/** The members of a tenant and its invited persons. */
import { type Context, errors, type SortKey, type TenantRef, targetTenant, trackedPage } from '#core';
import type { NamedTenant } from '../models/invitation.ts';
import { Member, type MemberQuery, showMember } from '../models/member.ts';

const ORDER = {
  name: 'users-by-name',
  keys: [
    { expression: 'lower(members.name)', direction: 'asc', type: 'text' },
    { expression: 'members.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

// Each half of the union names the tenant, so that both use their index and the platform's role sees no other tenant.
const ACCOUNT = `u.email, u.name, u.status, m.role_id, u.mfa_enabled, u.avatar_url, u.last_login_at, u.created_at`;
const INVITED = `i.email, i.name, 'invited' as status, i.role_id, false, null, null::timestamptz, i.created_at`;
const OF_ORGANIZATION = `
select u.id, m.org_id, null::uuid as partner_id, ${ACCOUNT}, m.site_ids, m.device_group_ids,
  null::text as org_access, '{}'::uuid[] as org_ids, null::timestamptz as invitation_expires_at
from organization_users m join users u on u.id = m.user_id where m.org_id = ?
union all
select i.id, i.org_id, i.partner_id, ${INVITED}, i.site_ids, i.device_group_ids, i.org_access, i.org_ids, i.expires_at
from invitations i where i.org_id = ?`;
const OF_PARTNER = `
select u.id, null::uuid as org_id, m.partner_id, ${ACCOUNT}, null::uuid[] as site_ids, null::uuid[] as device_group_ids,
  m.org_access, m.org_ids, null::timestamptz as invitation_expires_at
from partner_users m join users u on u.id = m.user_id where m.partner_id = ?
union all
select i.id, i.org_id, i.partner_id, ${INVITED}, i.site_ids, i.device_group_ids, i.org_access, i.org_ids, i.expires_at
from invitations i where i.partner_id = ?`;

export function membersOf(ctx: Context, { orgId, partnerId }: TenantRef) {
  const people = orgId ? OF_ORGANIZATION : OF_PARTNER;
  return Member.in(ctx)
    .from(
      Member.raw(
        `(select p.*, r.name as role_name from (${people}) p left join roles r on r.id = p.role_id) as members`,
        [orgId ?? partnerId, orgId ?? partnerId],
      ),
    )
    .select('members.*');
}

/** Throws 403 as targetTenant() does. */
export function listMembers(ctx: Context, query: MemberQuery) {
  const tenant = targetTenant(ctx, query);
  const members = membersOf(ctx, tenant);
  const { status, search, roleId } = query;
  if (status) members.where({ status });
  if (roleId) members.where({ roleId });
  if (search) {
    members.whereRaw('(strpos(lower(name), lower(?)) > 0 or strpos(lower(email), lower(?)) > 0)', [search, search]);
  }
  const list = {
    kind: 'users',
    within: 'organization' as const,
    owners: [tenant.orgId ?? tenant.partnerId ?? ''],
    walk: [{ column: 'members.id', field: 'id' }],
    maxLimit: 1000,
  };
  return trackedPage(ctx, members, query, { order: ORDER, list, show: showMember });
}

/** Throws 404 for a user who is not in this tenant. */
export async function mustFind(ctx: Context, tenant: TenantRef, id: string): Promise<Member> {
  const member = await membersOf(ctx, tenant).where('members.id', id).first();
  if (!member) throw errors.NotFound('User not found');
  return member;
}

export const showFound = async (ctx: Context, tenant: TenantRef, id: string) =>
  showMember(await mustFind(ctx, tenant, id));

export const readMember = (ctx: Context, id: string, named: NamedTenant) =>
  showFound(ctx, targetTenant(ctx, named), id);

/** The roles that can be assigned in the tenant (GET /users/roles). */
export async function listAssignable(ctx: Context, named: NamedTenant) {
  return { data: await ctx.use('roles').assignable(targetTenant(ctx, named)) };
}
