/** Role names are unique in a tenant regardless of case, and differ from those of built-in roles. */
import { type Context, databaseErrorOf, errors, type TenantRef } from '#core';

const refused = () => errors.NameTaken({ message: 'A role with this name exists', details: [{ path: 'name' }] });

/** Throws NAME_TAKEN for the name of a built-in role of this scope. The unique index checks the tenant's own. */
export async function mustBeFree(ctx: Context, name: string, { orgId }: TenantRef): Promise<void> {
  const { rows } = await ctx.sql(
    `select from roles where is_system and num_nonnulls(org_id, partner_id) = 0 and scope = $1 and lower(name) = lower($2)`,
    [orgId ? 'organization' : 'partner', name],
  );
  if (rows.length > 0) throw refused();
}

/** Turns a violation of the unique indexes into NAME_TAKEN. */
export function taken(error: unknown): never {
  if (/^roles_(org|partner)_name$/.test(databaseErrorOf(error)?.constraint ?? '')) throw refused();
  throw error;
}
