/** Searches devices by text or tag for the list, if an index finds few enough of them (migrations/001-devices.sql). */
import type { Context } from '#core';

/** Devices found by an index. Beyond this number it is faster to read rows in the requested order until the page is full. */
const MAX_FOUND = 4000;

/** A pattern for LIKE that matches the text anywhere. */
export const partOf = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/**
 * A call of the search function over names, serial numbers and addresses. A caller who reaches all organizations has no `orgIds`.
 */
export const textSource = (ctx: Context, pattern: string, limit: number | 'null'): string =>
  `${ctx.scope.orgIds ? 'devices_with_text_like(' : 'find_devices_with_text(null, '}${pattern}, ${limit})`;

async function few(ctx: Context, source: string, ...sought: unknown[]): Promise<string[] | null> {
  const { rows } = await ctx.sql<{ ids: string[] }>(
    `select array(select f.device_id from ${source} f limit ${MAX_FOUND + 1}) as ids`,
    sought,
  );
  const ids = rows[0]?.ids ?? [];
  return ids.length > MAX_FOUND ? null : [...new Set(ids)];
}

/** Null when more than MAX_FOUND are found. */
export const idsWithText = (ctx: Context, text: string): Promise<string[] | null> =>
  few(ctx, textSource(ctx, '$1::text', MAX_FOUND + 1), partOf(text));

/** Null when more than MAX_FOUND are found. @param tag in its stored form */
export function idsWithTag(ctx: Context, tag: string): Promise<string[] | null> {
  // Row-level security does not limit callers who reach all organizations, so these use the index directly.
  // reach: ids that become a condition beside reach() in the list
  const everywhere = '(select d.id as device_id from devices d where d.tags @> array[$1::text])';
  return few(ctx, ctx.scope.orgIds ? 'devices_with_all_tags(array[$1::text])' : everywhere, tag);
}

/** What a text is sought as in the searchable custom fields. */
export interface CustomSearch {
  /** A call of the search function. */
  source(add: (value: unknown, type: string) => string, limit: number | 'null'): string;
}

/** Null where no custom field within reach is searchable. */
export async function customSearch(ctx: Context, text: string): Promise<CustomSearch | null> {
  const fields = (await ctx.contributions('devices.values')[0]?.searchable(ctx)) ?? [];
  if (fields.length === 0) return null;
  const [owners, keys] = [fields.map(({ owner }) => owner), fields.map(({ key }) => key)];
  const call = ctx.scope.orgIds ? 'devices_with_custom_text(' : 'find_devices_with_custom_text(null, ';
  return {
    source: (add, limit) =>
      `${call}${add(partOf(text), 'text')}, ${add(partOf(JSON.stringify(text).slice(1, -1)), 'text')}, ` +
      `${add(owners, 'uuid[]')}, ${add(keys, 'text[]')}, ${limit})`,
  };
}

/** Null when more than MAX_FOUND are found. */
export function idsWithCustomText(ctx: Context, sought: CustomSearch): Promise<string[] | null> {
  const values: unknown[] = [];
  const source = sought.source((value, type) => `$${values.push(value)}::${type}`, MAX_FOUND + 1);
  return few(ctx, source, ...values);
}
