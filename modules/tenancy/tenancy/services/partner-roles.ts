/** The role with which a partner begins. */
import type { Context } from '#core';

/** Makes the Partner Admin role of a new partner and returns its id. Needs the platform's database role. */
export async function makePartnerAdminRole(ctx: Context, partnerId: string): Promise<string> {
  const { rows } = await ctx.sql<{ id: string }>(
    `with role as (
       insert into roles (partner_id, scope, name, description, is_system, force_mfa)
       values ($1, 'partner', 'Partner Admin', 'Everything, for every organization of the partner', true, true) returning id),
     granted as (
       insert into role_permissions (role_id, permission_id)
       select role.id, p.id from role, permissions p where p.resource = '*' and p.action = '*')
     select id from role`,
    [partnerId],
  );
  return rows[0]?.id ?? '';
}
