/** Renames tags in the filters of groups. */
import { type Context, errors } from '#core';
import { type ConditionTree, isTree } from '../models/condition-tree.ts';
import { DeviceGroup } from '../models/device-group.ts';
import { evaluateSoon } from './evaluating/evaluations.ts';
import { takeTurn } from './evaluating/turns.ts';
import { mustGrant, mustReachAll, RESTRICTING, type SeenGroup } from './reach.ts';

const NAMES_TAGS = new Set(['hasAny', 'hasAll']);
type Fold = (text: string) => string;

/** The tree with one tag replaced by another; the same object when it does not contain the tag. */
export function retagged(tree: ConditionTree, fold: Fold, from: string, to: string): ConditionTree {
  const conditions = tree.conditions.map((node) => {
    if (isTree(node)) return retagged(node, fold, from, to);
    if (node.field !== 'tags' || !NAMES_TAGS.has(node.operator) || !Array.isArray(node.value)) return node;
    const tags = node.value.map((tag) => fold(String(tag)));
    return tags.includes(from) ? { ...node, value: [...new Set(tags.map((tag) => (tag === from ? to : tag)))] } : node;
  });
  return conditions.some((node, index) => node !== tree.conditions[index]) ? { ...tree, conditions } : tree;
}

async function naming(ctx: Context, orgId: string, tag: string): Promise<SeenGroup[]> {
  const { tagKey } = ctx.use('devices');
  const groups = (await DeviceGroup.in(ctx)
    .where({ orgId })
    .whereRaw(`filter_fields @> '{tags}'`)
    .select('device_groups.*', DeviceGroup.raw(`${RESTRICTING} as is_access_restricting`))
    .orderBy('id')) as SeenGroup[];
  return groups.filter(({ filter }) => filter && retagged(filter, tagKey, tag, `not ${tag}`) !== filter);
}

/**
 * Throws 403 TARGET_OUT_OF_SCOPE unless the caller reaches every device that these groups can contain, and 403 if users are
 * limited to one of them and the caller may not change users, because a merge of tags adds members.
 */
export async function findNaming(ctx: Context, orgId: string, tag: string) {
  const groups = await naming(ctx, orgId, tag);
  for (const group of groups) {
    mustReachAll(ctx, group);
    mustGrant(ctx, group);
  }
  return groups.map(({ id, name }) => ({ type: 'device_group' as const, id, name }));
}

export async function renameIn(ctx: Context, orgId: string, from: string, to: string): Promise<void> {
  const { tagKey } = ctx.use('devices');
  for (const { id } of await naming(ctx, orgId, from)) {
    await takeTurn(ctx, id);
    const group = await DeviceGroup.in(ctx).findById(id);
    if (!group?.filter) continue;
    const filter = retagged(group.filter, tagKey, from, to);
    const changed = await DeviceGroup.in(ctx)
      .where({ id })
      .patch({ filter, updatedAt: new Date() } as Partial<DeviceGroup>);
    if (changed === 0) throw errors.NotFound('Device group not found');
    ctx.audit('device_group.update', {
      orgId,
      resourceId: id,
      resourceName: group.name,
      details: {
        changedFields: ['filter'],
        before: { filter: group.filter },
        after: { filter },
        source: 'tags.rename',
      },
    });
    // Devices that already had the other tag are members now, although they do not change and cause no evaluation.
    evaluateSoon(ctx, group);
  }
}
