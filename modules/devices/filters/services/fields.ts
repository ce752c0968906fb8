/** The fields that exist: those of all contributions to the slot `filters.field`. */
import type { Context } from '#core';
import type { CallerField, FilterField } from '../models/field.ts';

/**
 * The fields for these keys; a key without an entry does not exist.
 * @param orgIds the organizations whose own definitions count; null means all
 */
export async function fieldsFor(
  ctx: Context,
  keys: ReadonlySet<string>,
  orgIds: readonly string[] | null,
): Promise<ReadonlyMap<string, readonly CallerField[]>> {
  const sources = ctx.contributionsWithin('filters.field');
  const found = new Map<string, readonly CallerField[]>();
  for (const { value, orgIds: reached } of sources) {
    for (const field of value.fields ?? []) {
      if (!keys.has(field.key)) continue;
      if (found.has(field.key)) throw new Error(`two modules contribute the filter field ${field.key}`);
      found.set(field.key, [await among(ctx, onFor(field, reached))]);
    }
  }
  for (const { value, orgIds: reached } of sources) {
    const { family } = value;
    if (!family) continue;
    const { prefix, resolve } = family;
    const wanted = [...keys].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
    if (wanted.length === 0) continue;
    for (const [key, fields] of await resolve(ctx, wanted.sort(), within(orgIds, reached))) {
      found.set(
        prefix + key,
        fields.map((field) => onFor(field, reached)),
      );
    }
  }
  return found;
}

/** The organizations in both lists; null is all of them. */
function within(orgIds: readonly string[] | null, reached: readonly string[] | null): readonly string[] | null {
  if (!reached || !orgIds) return reached ?? orgIds;
  return orgIds.filter((id) => reached.includes(id));
}

/** Limits a field to the values that the caller may know. */
async function among(ctx: Context, field: FilterField): Promise<CallerField> {
  const known = await field.known?.(ctx);
  return known ? { ...field, among: known } : field;
}

/** Limits a field to devices of organizations for which its module is on. */
const onFor = (field: FilterField, reached: readonly string[] | null): FilterField =>
  reached ? { ...field, onFor: reached } : field;
