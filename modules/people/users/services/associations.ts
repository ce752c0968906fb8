/** Memberships: the rows that place a user in a tenant, created, changed and deleted by compare-and-set. */
import { type Context, errors, type TenantRef } from '#core';
import type { Limits } from '../models/limits.ts';
import type { Member } from '../models/member.ts';

/** A tenant in which a user may log in, with their role there. */
export interface Membership {
  scope: 'system' | 'partner' | 'organization';
  partnerId: string | null;
  orgId: string | null;
  roleId: string;
}
/** What a membership grants. */
export type Grant = Limits & { roleId: string };

const Changed = () => errors.InvalidState('The user was changed at the same time; reload and try again');

/** Adds the user to the tenant. An existing membership is left unchanged and returned. */
export async function join(ctx: Context, tenant: TenantRef, userId: string, grant: Grant): Promise<Membership> {
  const { orgId, partnerId } = tenant;
  const { roleId, siteIds, deviceGroupIds, orgAccess, orgIds } = grant;
  const made = orgId
    ? await ctx.sql(
        `insert into organization_users (org_id, user_id, role_id, site_ids, device_group_ids)
         values ($1, $2, $3, $4, $5) on conflict (user_id, org_id) do nothing`,
        [orgId, userId, roleId, siteIds, deviceGroupIds],
      )
    : await ctx.sql(
        `insert into partner_users (partner_id, user_id, role_id, org_access, org_ids)
         values ($1, $2, $3, $4, $5) on conflict (user_id, partner_id) do nothing`,
        [partnerId, userId, roleId, orgAccess, orgIds],
      );
  const place = { ...tenant, scope: orgId ? ('organization' as const) : ('partner' as const) };
  if (made.rowCount === 1) return { ...place, roleId };
  const places = await ctx.use('identity').placesOf(userId);
  const own = places.find((one) => one.orgId === orgId && one.partnerId === partnerId);
  if (!own) throw Changed();
  return own;
}

const SAME = {
  organization: `org_id = $1 and user_id = $2 and role_id = $3
    and site_ids is not distinct from $4::uuid[] and device_group_ids is not distinct from $5::uuid[]`,
  partner: 'partner_id = $1 and user_id = $2 and role_id = $3 and org_access = $4 and org_ids = $5::uuid[]',
};
const seenAs = ({ orgId, partnerId }: TenantRef, seen: Member) => [
  ...[orgId ?? partnerId, seen.id, seen.roleId],
  ...(orgId ? [seen.siteIds, seen.deviceGroupIds] : [seen.orgAccess, seen.orgIds]),
];

/** Changes role or limits of a member or an invitation. Throws 409 when the row has changed since it was read. */
export async function regrant(ctx: Context, tenant: TenantRef, seen: Member, grant: Grant): Promise<void> {
  const { roleId, siteIds, deviceGroupIds, orgAccess, orgIds } = grant;
  const next = [roleId, ...(tenant.orgId ? [siteIds, deviceGroupIds] : [orgAccess, orgIds])];
  const set = tenant.orgId
    ? 'role_id = $6, site_ids = $7::uuid[], device_group_ids = $8::uuid[]'
    : 'role_id = $6, org_access = $7, org_ids = $8::uuid[]';
  const { rowCount } = await ctx.sql(
    seen.invitationExpiresAt
      ? `update invitations set ${set}, updated_at = now() where ${sameInvitation(tenant)}`
      : tenant.orgId
        ? `update organization_users set ${set} where ${SAME.organization}`
        : `update partner_users set ${set} where ${SAME.partner}`,
    [...seenAs(tenant, seen), ...next],
  );
  if (rowCount === 0) throw Changed();
}

/** Removes a member or withdraws an invitation. Throws 409 when the row has changed since it was read. */
export async function remove(ctx: Context, tenant: TenantRef, seen: Member): Promise<void> {
  const { rowCount } = await ctx.sql(
    seen.invitationExpiresAt
      ? `delete from invitations where ${sameInvitation(tenant)}`
      : tenant.orgId
        ? `delete from organization_users where ${SAME.organization}`
        : `delete from partner_users where ${SAME.partner}`,
    seenAs(tenant, seen),
  );
  if (rowCount === 0) throw Changed();
}

const sameInvitation = ({ orgId }: TenantRef) => (orgId ? SAME.organization : SAME.partner).replace('user_id', 'id');
