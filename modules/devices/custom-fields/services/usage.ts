/** The use of a field: its values, through the contributions to `custom-fields.store`, and the rules that refer to it. */
import type { Context } from '#core';
import type { CustomField } from '../models/custom-field.ts';
import type { FieldPlace, FieldReference } from '../models/value-store.ts';
import { canonical } from './canonical.ts';

/** Maximum number of distinct values, and of characters in them, that are validated to count invalid ones. */
const MAX_VALUES = 5000;
const MAX_CHARACTERS = 200_000;

/** The organizations of the field within the caller's reach; also deleted ones, which still have values. */
export async function placeOf(ctx: Context, field: CustomField): Promise<FieldPlace> {
  const { fieldKey, orgId, partnerId } = field;
  if (orgId) return { fieldKey, orgIds: [orgId] };
  const { rows } = await ctx.sql<{ id: string }>('select id from organizations where partner_id = $1', [partnerId]);
  return { fieldKey, orgIds: rows.map((row) => row.id) };
}

/** The number of devices within the caller's reach with a value, or with one of these texts. */
export async function usageOf(ctx: Context, field: CustomField, among?: readonly string[]): Promise<number> {
  const place = { ...(await placeOf(ctx, field)), ...(among ? { among } : {}) };
  let count = 0;
  for (const store of ctx.contributions('custom-fields.store')) count += await store.countKey(ctx, place);
  return count;
}

/** The number of devices with an invalid value; null if there are too many distinct values. */
export async function misfitsOf(ctx: Context, field: CustomField): Promise<number | null> {
  const place = await placeOf(ctx, field);
  let misfits = 0;
  for (const store of ctx.contributions('custom-fields.store')) {
    const held = await store.values(ctx, { ...place, most: MAX_VALUES });
    if (!held) return null;
    const characters = held.reduce((sum, { value }) => sum + (typeof value === 'string' ? value.length : 0), 0);
    if (field.options.pattern !== undefined && characters > MAX_CHARACTERS) return null;
    for (const { value, osType, count } of held) {
      const foreign = field.deviceTypes !== null && !field.deviceTypes.includes(osType);
      if (foreign || 'fault' in canonical(field, value)) misfits += count;
    }
  }
  return misfits;
}

/** The rules that refer to the field. */
export async function referencesOf(ctx: Context, field: CustomField): Promise<FieldReference[]> {
  const place = await placeOf(ctx, field);
  const found: FieldReference[] = [];
  for (const references of ctx.contributions('custom-fields.references'))
    found.push(...(await references.find(ctx, place)));
  return found;
}
