/** The tenant of an invitation: whether it exists, and its name in audit entries. */
import { type Context, errors, type TenantRef } from '#core';

/** Throws 404 for a tenant that does not exist; the caller's reach is checked before. */
export async function mustExistTenant(ctx: Context, { orgId, partnerId }: TenantRef): Promise<void> {
  if (orgId) {
    await ctx.use('tenancy').mustExistOrg(orgId);
    return;
  }
  const { rowCount } = await ctx.sql('select from partners where id = $1 and deleted_at is null', [partnerId]);
  if (rowCount === 0) throw errors.NotFound('Partner not found');
}

/** SQL condition on `o` (left joined) and `p`: users can log in to the tenant. */
export const OPEN = `p.status = 'active' and p.deleted_at is null
  and (o.id is null or (o.status in ('active', 'trial') and o.deleted_at is null))`;

interface Account {
  id: string;
  email: string;
}

/** The fields that every audit entry about a user of a tenant has. */
export const entryOf = ({ orgId, partnerId }: TenantRef, { id, email }: Account, details: Record<string, unknown>) => ({
  orgId,
  // An entry about an organization also has the caller's partner, as every entry does.
  ...(orgId ? {} : { partnerId }),
  resourceType: 'user',
  resourceId: id,
  resourceName: email,
  details,
});
