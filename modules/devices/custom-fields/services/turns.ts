/** A lock between writers of values and the removal of a field, so that no value is written after the purge. */
import type { Context } from '#core';
import type { CustomField } from '../models/custom-field.ts';

// The same lock as admit_custom_field() in migrations/001-custom-fields.sql: one for each partner. Not a row lock, because
// organizations may read the fields of their partner but not lock them.

/** Shared by writers, and held until the transaction that writes the values ends. */
export async function joinWriters(ctx: Context, orgId: string): Promise<void> {
  await ctx.sql(
    `select pg_advisory_xact_lock_shared(hashtextextended('custom-fields:' || partner_id, 0)) from organizations where id = $1`,
    [orgId],
    'custom-fields-join',
  );
}

/** Waits for the end of the transactions that write values checked against this field. */
export async function awaitWriters(ctx: Context, { orgId, partnerId }: CustomField): Promise<void> {
  await ctx.sql(
    `select pg_advisory_xact_lock(hashtextextended('custom-fields:' ||
       coalesce($1::uuid, (select partner_id from organizations where id = $2)), 0))`,
    [partnerId, orgId],
  );
}
