/** Which filters a group can have, and when a filter must be evaluated again. */
import type { Context } from '#core';
import { FilterRecursion, invalid } from '../../errors.ts';
import { type ConditionTree, conditionsOf, levelsOf, MAX_CONDITIONS, MAX_LEVELS } from '../../models/condition-tree.ts';
import { DeviceGroup } from '../../models/device-group.ts';

export type Rule = Pick<DeviceGroup, 'filter' | 'filterFields' | 'evaluationMode'>;

const TIME_RELATIVE = new Set(['withinLast', 'notWithinLast']);

/** Fields that heartbeats change all the time; a change of one does not cause an evaluation. */
export function isVolatile(ctx: Context): (field: string) => boolean {
  const fields = ctx.contributions('filters.field').flatMap((source) => source.fields ?? []);
  const keys = new Set(fields.filter((field) => field.volatile).map((field) => field.key));
  return (field) => keys.has(field);
}

/** Fields whose changes cause no evaluation: they change with time or with every heartbeat. */
function isUnannounced(ctx: Context): (field: string) => boolean {
  const fields = ctx.contributions('filters.field').flatMap((source) => source.fields ?? []);
  const keys = new Set(fields.filter((field) => field.volatile || field.clock).map((field) => field.key));
  return (field) => keys.has(field);
}

/** The groups of these organizations whose filter uses the field. */
export const groupsFollowing = (ctx: Context, orgIds: readonly string[], field: string): Promise<DeviceGroup[]> =>
  Promise.resolve(
    DeviceGroup.in(ctx)
      .whereRaw('device_groups.org_id = any(?::uuid[]) and filter_fields @> array[?::text]', [
        orgIds as string[],
        field,
      ])
      .orderByRaw('lower(name), id'),
  );

function modeOf(ctx: Context, filter: ConditionTree): DeviceGroup['evaluationMode'] {
  const unannounced = isUnannounced(ctx);
  const conditions = conditionsOf(filter);
  const periodic = conditions.some(({ field, operator }) => unannounced(field) || TIME_RELATIVE.has(operator));
  if (!periodic) return 'event';
  return conditions.some(({ field }) => !unannounced(field)) ? 'mixed' : 'periodic';
}

/**
 * Checks that a group of this organization can have the filter. Throws VALIDATION_ERROR with the path of each fault, and
 * FILTER_RECURSION for a filter that refers to groups, which could refer to its own group.
 */
export async function checkedRule(ctx: Context, orgId: string, given: unknown, path = 'filter'): Promise<Rule> {
  const { fields } = await ctx.use('filters').compile(given, { orgIds: [orgId], path });
  const filter = given as ConditionTree;
  if (fields.includes('groupId')) throw FilterRecursion({ details: [{ in: 'payload', path }] });
  if (levelsOf(filter) > MAX_LEVELS) throw invalid(path, `The filter of a group has at most ${MAX_LEVELS} levels`);
  if (conditionsOf(filter).length > MAX_CONDITIONS) {
    throw invalid(path, `The filter of a group has at most ${MAX_CONDITIONS} conditions`);
  }
  return { filter, filterFields: fields, evaluationMode: modeOf(ctx, filter) };
}
