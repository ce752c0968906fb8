/** Writers of values and the removal of a field take turns, so that no value is written after its purge. */
import type { Context } from '#core';
import type { CustomField } from '../models/custom-field.ts';

// The same lock as admit_custom_field() in migrations/001-custom-fields.sql: one a partner. Not a row lock, because organizations may read
// their partner's fields but not lock them.

/** Many writers at once; held until the transaction that writes the values ends. */
export async function joinWriters(ctx: Context, orgId: string): Promise<void> {
  await ctx.sql(
    `select pg_advisory_xact_lock_shared(hashtextextended('custom-fields:' || partner_id, 0)) from organizations where id = $1`,
    [orgId],
    'custom-fields-join',
  );
}

/** Waits until values that were checked against this field are committed or given up. */
export async function awaitWriters(ctx: Context, { orgId, partnerId }: CustomField): Promise<void> {
  await ctx.sql(
    `select pg_advisory_xact_lock(hashtextextended('custom-fields:' ||
       coalesce($1::uuid, (select partner_id from organizations where id = $2)), 0))`,
    [partnerId, orgId],
  );
}
