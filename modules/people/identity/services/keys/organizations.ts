/** What identity must know of an organization before it gives out a key for it. */
import { type Context, errors } from '#core';

/** Throws 404 for an organization that is gone; whether the caller reaches it is checked before. */
export async function mustExistOrg(ctx: Context, orgId: string): Promise<void> {
  const { rowCount } = await ctx.sql('select 1 from organizations where id = $1 and deleted_at is null', [orgId]);
  if (rowCount === 0) throw errors.NotFound('Organization not found');
}
