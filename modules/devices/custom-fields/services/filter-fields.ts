/** Definitions as fields of filters; organizations that define one key differently each count with their own. */
import type { Context, Slots } from '#core';
import type { CustomField, FieldType } from '../models/custom-field.ts';
import { living } from './visible.ts';

type Family = NonNullable<Slots['filters.field']['family']>;
type Resolved = Awaited<ReturnType<Family['resolve']>>;
type FilterField = NonNullable<ReturnType<Resolved['get']>>[number];

const KEY = /^[a-z][a-z0-9_]{0,99}$/;
/** The type in filters, the type in JSON, and the SQL that takes the value out; any other JSON counts as no value. */
const TYPES: Record<FieldType, { type: FilterField['type']; json: string; cast: string }> = {
  text: { type: 'string', json: 'string', cast: `#>> '{}'` },
  dropdown: { type: 'enum', json: 'string', cast: `#>> '{}'` },
  date: { type: 'date', json: 'string', cast: `#>> '{}'` },
  number: { type: 'number', json: 'number', cast: '::numeric' },
  boolean: { type: 'boolean', json: 'boolean', cast: '::boolean' },
};

/** Devices index the values; the function keeps to the caller's organizations (modules/devices/devices/migrations/001-devices.sql). */
const search = (key: string) =>
  ({ within: `devices_with_custom_value(jsonb_build_object('${key}', ?))`, places: true }) as const;

function fieldOf({ fieldKey, type, options }: CustomField): FilterField {
  // The pattern that keys have from the first makes it safe to write one into SQL.
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
 * One organization's field needs no limit when nobody else is asked, and a partner's none within the partner: the
 * organizations that one caller reaches all have the same one.
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

/** Keys without a living definition in these organizations are left out. */
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
