/**
 * The devices that the list is asked for by text or by tag, where an index finds few enough of them (migrations/001-devices.sql).
 */
import type { Context } from '#core';

/** More are found sooner by reading rows in the order asked for until the page is full. */
const MOST = 4000;

/** A part of a text, for LIKE. */
export const partOf = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** The function over names, serial numbers and addresses. Work that reaches every organization has none announced. */
export const textSource = (ctx: Context, pattern: string, most: number | 'null'): string =>
  `${ctx.scope.orgIds ? 'devices_with_text_like(' : 'find_devices_with_text(null, '}${pattern}, ${most})`;

async function few(ctx: Context, source: string, sought: string): Promise<string[] | null> {
  const { rows } = await ctx.sql<{ ids: string[] }>(
    `select array(select f.device_id from ${source} f limit ${MOST + 1}) as ids`,
    [sought],
  );
  const ids = rows[0]?.ids ?? [];
  return ids.length > MOST ? null : [...new Set(ids)];
}

/** Null where so many are found that rows should be looked at instead. */
export const idsWithText = (ctx: Context, text: string): Promise<string[] | null> =>
  few(ctx, textSource(ctx, '$1::text', MOST + 1), partOf(text));

/** Null where so many are found that rows should be looked at instead. @param tag in its stored form */
export function idsWithTag(ctx: Context, tag: string): Promise<string[] | null> {
  // No policy is in the way of work that reaches every organization.
  // reach: ids that become a condition beside reach() in the list
  const everywhere = '(select d.id as device_id from devices d where d.tags @> array[$1::text])';
  return few(ctx, ctx.scope.orgIds ? 'devices_with_all_tags(array[$1::text])' : everywhere, tag);
}
