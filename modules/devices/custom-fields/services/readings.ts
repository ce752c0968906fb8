/** What readers see of custom fields: stored values, and defaults where none is stored. */
import type { Context } from '#core';
import type { CustomField, FieldType, FieldValue } from '../models/custom-field.ts';
import { fieldsOf, living } from './visible.ts';

export interface FieldReading {
  key: string;
  name: string;
  type: FieldType;
  value: FieldValue | null;
  /** Null for a field without a value. */
  source: 'device' | 'default' | null;
}
interface Holder {
  orgId: string;
  osType: string;
  customFields: Record<string, unknown>;
}
type Seen = Pick<CustomField, 'fieldKey' | 'name' | 'type' | 'defaultValue' | 'deviceTypes'>;

/** The fields of a device in their order, those that are not for its operating system left out. */
function readingsOf(fields: readonly Seen[], { osType, customFields }: Holder): FieldReading[] {
  return fields.flatMap(({ fieldKey, name, type, defaultValue, deviceTypes }) => {
    if (deviceTypes && !deviceTypes.includes(osType)) return [];
    const stored = (customFields[fieldKey] ?? null) as FieldValue | null;
    const source = stored !== null ? ('device' as const) : defaultValue !== null ? ('default' as const) : null;
    return [{ key: fieldKey, name, type, value: stored ?? defaultValue, source }];
  });
}

/** The values of one device by key, with defaults. */
export async function readValues(ctx: Context, device: Holder): Promise<Record<string, FieldValue>> {
  const readings = readingsOf(await fieldsOf(ctx, device.orgId), device);
  return Object.fromEntries(readings.flatMap(({ key, value }) => (value === null ? [] : [[key, value]])));
}

/** The fields of these devices by id, in one statement. */
export async function readMany(ctx: Context, deviceIds: readonly string[]): Promise<Map<string, FieldReading[]>> {
  // reach: the caller of the slot has found the devices within its reach
  const { rows } = await ctx.sql<Holder & { id: string; fields: Seen[] | null }>(
    `select d.id, d.org_id as "orgId", d.os_type as "osType", d.custom_fields as "customFields",
       (select json_agg(json_build_object('fieldKey', f.field_key, 'name', f.name, 'type', f.type,
          'defaultValue', f.default_value, 'deviceTypes', f.device_types) order by f.sort_order, lower(f.name), f.id)
        from custom_fields f where ${applies('f')}) as fields
     from devices d join organizations o on o.id = d.org_id where d.id = any($1::uuid[])`,
    [deviceIds],
  );
  return new Map(rows.map((row) => [row.id, readingsOf(row.fields ?? [], row)]));
}

/** SQL: whether a definition is one of the organization `o` of a device. */
const applies = (field: string): string =>
  `${field}.deleted_at is null and (${field}.org_id = o.id or ${field}.partner_id = o.partner_id)`;

/** SQL over `devices d` and `organizations o`: what readers see as an object by key; null without any. */
export const seenValues = ({ inList }: { inList: boolean }): string =>
  `(select jsonb_object_agg(f.field_key, v.value)
    from custom_fields f cross join lateral (select coalesce(d.custom_fields -> f.field_key, f.default_value) as value) v
    where ${applies('f')}${inList ? ' and f.show_in_list' : ''}
      and (f.device_types is null or d.os_type = any(f.device_types)) and v.value is not null)`;

/** The searchable fields within reach, each by its owner and its key. */
export async function searchableFields(ctx: Context): Promise<{ owner: string; key: string }[]> {
  const fields = await living(ctx).where({ searchable: true }).select('orgId', 'partnerId', 'fieldKey');
  return fields.flatMap(({ orgId, partnerId, fieldKey: key }) => {
    const owner = orgId ?? partnerId;
    return owner ? [{ owner, key }] : [];
  });
}
