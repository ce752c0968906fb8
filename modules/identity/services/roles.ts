/** Roles and the permissions that can be given to them, as far as the caller may see. */
import { type Context, errors, type PageQuery, page, type SortKey } from '#core';
import { type Pair, Role } from '../models/role.ts';

const ORDER = {
  name: 'roles-by-name',
  keys: [
    { expression: 'lower(roles.name)', direction: 'asc', type: 'text' },
    { expression: 'roles.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};
/** Nobody is shown roles of a scope above their own. */
const SEEN = {
  system: ['system', 'partner', 'organization'],
  partner: ['partner', 'organization'],
  organization: ['organization'],
};

function visibleRoles(ctx: Context) {
  const { kind } = ctx.scope;
  if (kind === 'device' || kind === 'none') throw errors.Forbidden('Partner or organization context required');
  // Tenant work may not even count the users of the platform itself.
  const system = kind === 'system' ? '+ (select count(*) from system_users x where x.role_id = roles.id)' : '';
  return Role.in(ctx)
    .whereIn('roles.scope', SEEN[kind])
    .select(
      'roles.*',
      Role.raw(`((select count(*) from organization_users x where x.role_id = roles.id)
        + (select count(*) from partner_users x where x.role_id = roles.id) ${system})::int as user_count`),
    );
}

export const listRoles = (ctx: Context, query: PageQuery) => page(visibleRoles(ctx), query, ORDER);

/** The role with its own permissions, without inherited ones. */
export async function readRole(ctx: Context, id: string) {
  const role = await visibleRoles(ctx).findById(id);
  if (!role) throw errors.NotFound('Role not found');
  const { rows } = await ctx.sql<Pair>(
    `select p.resource, p.action from role_permissions rp join permissions p on p.id = rp.permission_id
     where rp.role_id = $1 order by p.resource, p.action`,
    [id],
  );
  return { ...role, permissions: rows };
}

/** What may be ticked in a role; `*:*` belongs to the built-in roles alone. */
export async function readCatalog(ctx: Context) {
  const { rows } = await ctx.sql<Pair & { id: string; description: string | null }>(
    `select id, resource, action, description from permissions where resource <> '*' order by resource, action`,
  );
  return { data: rows };
}

export async function readAvailable(ctx: Context) {
  const { data } = await readCatalog(ctx);
  return {
    resources: [...new Set(data.map((pair) => pair.resource))],
    actions: [...new Set(data.map((pair) => pair.action))],
  };
}
