/** A tenant that has an administrator keeps one, whatever is changed and however many change it at once. */
import type { Context } from '../context/index.ts';
import { LastAdministrator } from '../errors.ts';

/** One of the two is set. */
export interface TenantRef {
  partnerId: string | null;
  orgId: string | null;
}

// Who can do everything and is limited to nothing less than the whole tenant.
const ADMINISTRATORS = `
with recursive granting as (
  select rp.role_id as id from role_permissions rp join permissions p on p.id = rp.permission_id
  where p.resource = '*' and p.action = '*'
  union select r.id from roles r join granting g on r.parent_role_id = g.id)
select u.id, u.email from organization_users m join users u on u.id = m.user_id and u.status = 'active'
where m.org_id = $1 and m.role_id in (select id from granting)
  and coalesce(cardinality(m.site_ids), 0) = 0 and coalesce(cardinality(m.device_group_ids), 0) = 0
union
select u.id, u.email from partner_users m join users u on u.id = m.user_id and u.status = 'active'
where m.partner_id = $2 and m.role_id in (select id from granting) and m.org_access = 'all'`;

/** A tenant's administrators. Needs work that reaches the members of the tenant. */
export async function administratorsOf(
  ctx: Context,
  { orgId, partnerId }: TenantRef,
): Promise<{ id: string; email: string }[]> {
  const { rows } = await ctx.sql<{ id: string; email: string }>(
    ADMINISTRATORS,
    [orgId, partnerId],
    'core-administrators',
  );
  return rows;
}

const hasOne = async (ctx: Context, tenant: TenantRef): Promise<boolean> =>
  (await administratorsOf(ctx, tenant)).length > 0;

/**
 * Runs a change that may take administrators away: changes of one tenant take turns until they commit.
 * Needs work that reaches the members of these tenants. Throws 409 LAST_ADMINISTRATOR, which undoes the change.
 */
export async function keepAdministrators<T>(
  ctx: Context,
  tenants: readonly TenantRef[],
  change: () => Promise<T>,
): Promise<T> {
  const ids = tenants.map(({ partnerId, orgId }) => partnerId ?? orgId).sort();
  // One lock after another and always in this order, so that two changes never wait for each other.
  for (const id of new Set(ids)) {
    await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`administrators:${id}`]);
  }
  const before: TenantRef[] = [];
  for (const tenant of tenants) if (await hasOne(ctx, tenant)) before.push(tenant);
  const result = await change();
  for (const tenant of before) if (!(await hasOne(ctx, tenant))) throw LastAdministrator();
  return result;
}
