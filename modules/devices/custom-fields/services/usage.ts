/** Where the values of a field lie: asked of whoever fills the slot `custom-fields.store`. */
import type { Context } from '#core';
import type { CustomField } from '../models/custom-field.ts';
import type { FieldPlace, FieldReference } from '../models/value-store.ts';
import { canonical } from './canonical.ts';

/** Different values, and characters in them, that are looked at to count those that do not fit. */
const MOST_VALUES = 5000;
const MOST_CHARACTERS = 200_000;

/** The organizations a field applies to, within the caller's reach; removed ones included, whose values lie there too. */
export async function placeOf(ctx: Context, field: CustomField): Promise<FieldPlace> {
  const { fieldKey, orgId, partnerId } = field;
  if (orgId) return { fieldKey, orgIds: [orgId] };
  const { rows } = await ctx.sql<{ id: string }>('select id from organizations where partner_id = $1', [partnerId]);
  return { fieldKey, orgIds: rows.map((row) => row.id) };
}

/** How many devices the caller reaches that hold a value, or one of these texts. */
export async function usageOf(ctx: Context, field: CustomField, among?: readonly string[]): Promise<number> {
  const place = { ...(await placeOf(ctx, field)), ...(among ? { among } : {}) };
  let count = 0;
  for (const store of ctx.contributions('custom-fields.store')) count += await store.countKey(ctx, place);
  return count;
}

/** On how many devices the value does not fit the definition; null where there are too many different ones to look at. */
export async function misfitsOf(ctx: Context, field: CustomField): Promise<number | null> {
  const place = await placeOf(ctx, field);
  let misfits = 0;
  for (const store of ctx.contributions('custom-fields.store')) {
    const held = await store.values(ctx, { ...place, most: MOST_VALUES });
    if (!held) return null;
    const characters = held.reduce((sum, { value }) => sum + (typeof value === 'string' ? value.length : 0), 0);
    if (field.options.pattern !== undefined && characters > MOST_CHARACTERS) return null;
    for (const { value, osType, count } of held) {
      const foreign = field.deviceTypes !== null && !field.deviceTypes.includes(osType);
      if (foreign || 'fault' in canonical(field, value)) misfits += count;
    }
  }
  return misfits;
}

/** What names the field in a rule. */
export async function referencesOf(ctx: Context, field: CustomField): Promise<FieldReference[]> {
  const place = await placeOf(ctx, field);
  const found: FieldReference[] = [];
  for (const references of ctx.contributions('custom-fields.references'))
    found.push(...(await references.find(ctx, place)));
  return found;
}
