/** Custom fields in filters. Organizations may define the same key differently; each one's devices use its own definition. */
import type { Context, Slots } from '#core';
import type { CustomField, FieldType } from '../models/custom-field.ts';
import { living } from './visible.ts';

type Family = NonNullable<Slots['filters.field']['family']>;
type Resolved = Awaited<ReturnType<Family['resolve']>>;
type FilterField = NonNullable<ReturnType<Resolved['get']>>[number];

const KEY = /^[a-z][a-z0-9_]{0,99}$/;
/** The type in filters, the type in JSON, and the SQL that reads the value; a value of any other JSON type counts as none. */
const TYPES: Record<FieldType, { type: FilterField['type']; json: string; cast: string }> = {
  text: { type: 'string', json: 'string', cast: `#>> '{}'` },
  dropdown: { type: 'enum', json: 'string', cast: `#>> '{}'` },
  date: { type: 'date', json: 'string', cast: `#>> '{}'` },
  number: { type: 'number', json: 'number', cast: '::numeric' },
  boolean: { type: 'boolean', json: 'boolean', cast: '::boolean' },
};

/** Searches an index of the values within the caller's organizations (modules/devices/devices/migrations/001-devices.sql). */
const search = (key: string) =>
  ({ within: `devices_with_custom_value(jsonb_build_object('${key}', ?))`, places: true }) as const;

function fieldOf({ fieldKey, type, options }: CustomField): FilterField {
  // The pattern of keys makes it safe to write one into SQL.
  if (!KEY.test(fieldKey)) throw new Error(`the key ${fieldKey} is none`);
  const { type: kind, json, cast } = TYPES[type];
  const stored = `(d.custom_fields -> '${fieldKey}')`;
  return {
    key: `custom.${fieldKey}`,
    type: kind,
    value: `case when jsonb_typeof${stored} = '${json}' then ${stored}${cast.startsWith('#') ? ' ' : ''}${cast} end`,
    ...(type === 'dropdown' ? { values: options.choices?.map((choice) => choice.value) ?? [] } : {}),
    ...(kind === 'date' ? {} : { searches: { equals: search(fieldKey) } }),
  };
}

/**
 * The fields, limited to the organizations or partners that define them. No limit is needed if the filter covers only these
 * organizations, or only organizations of the partner that defines the field.
 */
function limited(fields: readonly CustomField[], orgIds: readonly string[] | null): FilterField[] {
  const kinds = Map.groupBy(fields, ({ type, options }) => JSON.stringify([type, options.choices ?? null]));
  return [...kinds.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const field = fieldOf(first);
    const owners = same.flatMap(({ orgId }) => orgId ?? []).sort();
    const partnerIds = same.flatMap(({ partnerId }) => partnerId ?? []).sort();
    if (orgIds && (partnerIds.length > 0 || orgIds.every((id) => owners.includes(id)))) return [field];
    return [{ ...field, only: { ...(owners[0] ? { orgIds: owners } : {}), ...(partnerIds[0] ? { partnerIds } : {}) } }];
  });
}

/** Leaves out keys without a definition in these organizations. */
export async function filterFields(
  ctx: Context,
  keys: readonly string[],
  orgIds: readonly string[] | null,
): Promise<Resolved> {
  const query = living(ctx).whereIn('fieldKey', [...keys]);
  if (orgIds) {
    query.whereRaw(
      '(custom_fields.org_id = any(?::uuid[]) or custom_fields.partner_id in (select o.partner_id from organizations o where o.id = any(?::uuid[])))',
      [orgIds as string[], orgIds as string[]],
    );
  }
  const found = Map.groupBy(await query.orderBy('custom_fields.id'), (field) => field.fieldKey);
  return new Map([...found].map(([key, fields]) => [key, limited(fields, orgIds)]));
}
