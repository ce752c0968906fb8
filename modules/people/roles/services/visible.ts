/** The roles that a caller sees, with the number of users who hold them. */
import { type Context, errors, mustAccessOrg, type TenantRef } from '#core';
import { ofTenant, Role, type TenantNamed } from '../models/role.ts';

/** Callers do not see roles of a scope above their own. */
const SEEN = {
  system: ['system', 'partner', 'organization'],
  partner: ['partner', 'organization'],
  organization: ['organization'],
};
const COUNT: Record<string, string> = {
  organization_users: '(select count(*) from organization_users m where m.role_id = roles.id)',
  partner_users: '(select count(*) from partner_users m where m.role_id = roles.id)',
  system_users: '(select count(*) from system_users m where m.role_id = roles.id)',
};

/** All that the caller sees, or of these only the roles and users of one tenant. */
export function visibleRoles(ctx: Context, tenant: TenantRef | null = null) {
  const { kind } = ctx.scope;
  if (kind === 'device' || kind === 'none') throw errors.Forbidden('Partner or organization context required');
  const roles = Role.in(ctx).whereIn('roles.scope', SEEN[kind]).select('roles.*');
  if (tenant) {
    const members = tenant.orgId
      ? `organization_users m where m.org_id = ? and m.role_id = roles.id`
      : `partner_users m where m.partner_id = ? and m.role_id = roles.id`;
    return roles
      .whereRaw(...ofTenant(tenant))
      .select(
        Role.raw(`(select count(*) from ${members})::int as user_count`, [tenant.orgId ?? tenant.partnerId ?? '']),
      );
  }
  // Tenant work may not even count the users of the platform itself.
  const counted = ['organization_users', 'partner_users', ...(kind === 'system' ? ['system_users'] : [])];
  return roles.select(Role.raw(`(${counted.map((table) => COUNT[table]).join(' + ')})::int as user_count`));
}

/** The tenant that a list is about: the one named, an organization user's own, or null for all within reach. */
export function listedTenant(ctx: Context, { orgId, partnerId }: TenantNamed): TenantRef | null {
  const { scope } = ctx;
  if (orgId && partnerId) throw errors.ValidationFailed({ details: [{ in: 'query', path: 'partnerId' }] });
  if (orgId) mustAccessOrg(ctx, orgId);
  if (partnerId && scope.kind !== 'system' && partnerId !== scope.partnerId) {
    throw errors.Forbidden('Access denied to this partner');
  }
  if (orgId || partnerId) return { orgId: orgId ?? null, partnerId: partnerId ?? null };
  return scope.kind === 'organization' ? { orgId: scope.orgId, partnerId: null } : null;
}

/** Throws 404 for a role that does not exist for this caller. */
export async function mustSee(ctx: Context, id: string): Promise<Role> {
  const role = await visibleRoles(ctx, listedTenant(ctx, {})).findById(id);
  if (!role) throw errors.NotFound('Role not found');
  return role;
}
