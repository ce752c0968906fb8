/** The tenant that people are invited to: whether it is there, and how the trail names it. */
import { type Context, errors, type TenantRef } from '#core';

/** Throws 404 for a tenant that is gone; whether the caller reaches it is checked before. */
export async function mustExistTenant(ctx: Context, { orgId, partnerId }: TenantRef): Promise<void> {
  if (orgId) {
    await ctx.use('tenancy').mustExistOrg(orgId);
    return;
  }
  const { rowCount } = await ctx.sql('select from partners where id = $1 and deleted_at is null', [partnerId]);
  if (rowCount === 0) throw errors.NotFound('Partner not found');
}

/** Condition on `o` (left joined) and `p`: the tenant is open to its users. */
export const OPEN = `p.status = 'active' and p.deleted_at is null
  and (o.id is null or (o.status in ('active', 'trial') and o.deleted_at is null))`;

interface Somebody {
  id: string;
  email: string;
}

/** The parts that every entry about a user of a tenant has in common. */
export const entryOf = (
  { orgId, partnerId }: TenantRef,
  { id, email }: Somebody,
  details: Record<string, unknown>,
) => ({
  orgId,
  // Beside an organization the caller's partner stays, as in every entry.
  ...(orgId ? {} : { partnerId }),
  resourceType: 'user',
  resourceId: id,
  resourceName: email,
  details,
});
