/** Which fields there are: asked of whoever fills the slot `filters.field`. */
import type { Context } from '#core';
import type { FilterField } from '../models/field.ts';

/**
 * The fields for these keys; a key without an entry does not exist.
 * @param orgIds the organizations whose own definitions count; null means all
 */
export async function fieldsFor(
  ctx: Context,
  keys: ReadonlySet<string>,
  orgIds: readonly string[] | null,
): Promise<ReadonlyMap<string, readonly FilterField[]>> {
  const sources = ctx.fillings('filters.field');
  const found = new Map<string, readonly FilterField[]>();
  for (const field of sources.flatMap((source) => source.fields ?? [])) {
    if (!keys.has(field.key)) continue;
    if (found.has(field.key)) throw new Error(`two modules give the filter field ${field.key}`);
    found.set(field.key, [field]);
  }
  for (const { family } of sources) {
    if (!family) continue;
    const { prefix, resolve } = family;
    const wanted = [...keys].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    if (wanted.length === 0) continue;
    for (const [key, fields] of await resolve(ctx, wanted.sort(), orgIds)) found.set(prefix + key, fields);
  }
  return found;
}
