/** The users who have a role, once for each place. */
import { type Context, mustReachAllOrgs, type PageQuery, page, type SortKey } from '#core';
import { RoleHolder } from '../models/role-holder.ts';
import { mustSee } from './visible.ts';

const ORDER = {
  name: 'role-holders',
  keys: [
    { expression: 'lower(role_holders.name)', direction: 'asc', type: 'text' },
    { expression: 'role_holders.id', direction: 'asc', type: 'uuid' },
    { expression: 'role_holders.place', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};
const holders = (orgId: string, partnerId: string, table: string) =>
  `select u.id, u.name, u.email, u.status, ${orgId}::uuid as org_id, ${partnerId}::uuid as partner_id,
     coalesce(${orgId}, ${partnerId}, '00000000-0000-0000-0000-000000000000')::uuid as place
   from ${table} m join users u on u.id = m.user_id where m.role_id = ?`;
const IN_TENANTS = [
  holders('m.org_id', 'null', 'organization_users'),
  holders('null', 'm.partner_id', 'partner_users'),
];
// The tenant role cannot read the platform's own users.
const EVERYWHERE = [...IN_TENANTS, holders('null', 'null', 'system_users')];

/** Throws 403 for partner users who reach only some organizations, 404 for a role that the caller cannot see. */
export async function listHolders(ctx: Context, roleId: string, query: PageQuery) {
  mustReachAllOrgs(ctx);
  await mustSee(ctx, roleId);
  const parts = ctx.scope.kind === 'system' ? EVERYWHERE : IN_TENANTS;
  const rows = RoleHolder.raw(
    parts.join(' union all '),
    parts.map(() => roleId),
  );
  return page(RoleHolder.in(ctx).with('role_holders', rows), query, ORDER, ({ place: _, ...holder }) => holder);
}
