/** Where the values of a field lie: asked of whoever fills the slot `custom-fields.store`. */
import type { Context } from '#core';
import type { CustomField } from '../models/custom-field.ts';
import type { FieldPlace } from '../models/value-store.ts';

/** The organizations a field applies to, within the caller's reach; removed ones included, whose values lie there too. */
export async function placeOf(ctx: Context, field: CustomField): Promise<FieldPlace> {
  const { fieldKey, orgId, partnerId } = field;
  if (orgId) return { fieldKey, orgIds: [orgId] };
  const { rows } = await ctx.sql<{ id: string }>('select id from organizations where partner_id = $1', [partnerId]);
  return { fieldKey, orgIds: rows.map((row) => row.id) };
}

/** How many devices the caller reaches that hold a value. */
export async function usageOf(ctx: Context, field: CustomField): Promise<number> {
  const place = await placeOf(ctx, field);
  let count = 0;
  for (const store of ctx.fillings('custom-fields.store')) count += await store.countKey(ctx, place);
  return count;
}
