/** Custom fields in filters. Organizations may define the same key differently; each one's devices use its own definition. */
import type { Context, Slots } from '#core';
import type { CustomField, FieldType, FieldValue } from '../models/custom-field.ts';
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

/**
 * Searches an index of the values within the caller's organizations (modules/devices/devices/migrations/001-devices.sql). The
 * default is stored nowhere, so no index finds the devices that have it.
 */
const search = (key: string, defaultValue: FieldValue | null) =>
  ({
    within: `devices_with_custom_value(jsonb_build_object('${key}', ?))`,
    places: true,
    ...(defaultValue === null ? {} : { except: defaultValue }),
  }) as const;

/** A value as an SQL constant, in a form without characters that mean something in SQL or to what assembles it. */
function constantOf(value: FieldValue): string {
  if (typeof value === 'boolean') return String(value);
  const text = `convert_from('\\x${Buffer.from(String(value)).toString('hex')}'::bytea, 'utf8')`;
  return typeof value === 'number' ? `${text}::numeric` : text;
}

function fieldOf({ fieldKey, type, options, defaultValue, deviceTypes }: CustomField): FilterField {
  // The pattern of keys makes it safe to write one into SQL.
  if (!KEY.test(fieldKey)) throw new Error(`the key ${fieldKey} is none`);
  const { type: kind, json, cast } = TYPES[type];
  const stored = `(d.custom_fields -> '${fieldKey}')`;
  const typed = `when jsonb_typeof${stored} = '${json}' then ${stored}${cast.startsWith('#') ? ' ' : ''}${cast}`;
  // A stored value of another type counts as none, and not as the default.
  const lacking = `${stored} is null${deviceTypes ? ` and d.os_type = any('{${deviceTypes.join(',')}}')` : ''}`;
  const otherwise = defaultValue === null ? '' : ` when ${lacking} then ${constantOf(defaultValue)}`;
  return {
    key: `custom.${fieldKey}`,
    type: kind,
    value: `case ${typed}${otherwise} end`,
    ...(type === 'dropdown' ? { values: options.choices?.map((choice) => choice.value) ?? [] } : {}),
    ...(kind === 'date' ? {} : { searches: { equals: search(fieldKey, defaultValue) } }),
  };
}

/**
 * The fields, limited to the organizations or partners that define them. No limit is needed if the filter covers only these
 * organizations, or only organizations of the partner that defines the field.
 */
function limited(fields: readonly CustomField[], orgIds: readonly string[] | null): FilterField[] {
  const kinds = Map.groupBy(fields, ({ type, options, defaultValue, deviceTypes }) =>
    JSON.stringify([type, options.choices ?? null, defaultValue, defaultValue === null ? null : deviceTypes]),
  );
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
