/** Creating and changing groups. A dynamic group is evaluated in the same request, so that it is never seen without members. */
import { type Context, changesOf, databaseErrorOf, errors, mustAccessSite, type Reply, reply, targetOrg } from '#core';
import { GroupNotFound, invalid, StaticGroup } from '../errors.ts';
import { DeviceGroup, type GroupChanges, type GroupCreate } from '../models/device-group.ts';
import { evaluateAsked, evaluateOnceMore } from './evaluating/evaluations.ts';
import { checkedRule, type Rule } from './evaluating/rules.ts';
import { takeTreeTurn, takeTurn } from './evaluating/turns.ts';
import { membersOf, shown } from './group-lists.ts';
import { addMembers, type Changes, settle } from './members/memberships.ts';
import { dropOutside, mustFit, outsideOf } from './members/static-members.ts';
import { mustGrant, mustReachAll, mustSee, type SeenGroup } from './reach.ts';
import { mustFitBelow } from './trees.ts';

const NOTHING: Changes = { added: [], removed: [] };

/** Names are unique within parent and organization, regardless of case; the index decides between concurrent requests. */
function throwNameTaken(error: unknown): never {
  if (databaseErrorOf(error)?.constraint === 'device_groups_name') throw errors.NameTaken();
  throw error;
}

/** The filter of a new group: its own, or a copy of a saved one of the same organization. */
async function ruleOf(ctx: Context, orgId: string, input: GroupCreate): Promise<Rule> {
  const { type, filter, filterId } = input;
  if (type === 'static') {
    if (filter || filterId) throw invalid(filter ? 'filter' : 'filterId', 'A static group has no filter');
    return { filter: null, filterFields: [], evaluationMode: null };
  }
  if (input.deviceIds || input.copyFrom) {
    throw invalid(input.deviceIds ? 'deviceIds' : 'copyFrom', 'The members of a dynamic group follow from its filter');
  }
  if (filter) return checkedRule(ctx, orgId, filter);
  if (!filterId) throw invalid('filter', 'A dynamic group needs filter or filterId');
  const saved = await ctx.use('filters').read(filterId);
  if (saved.orgId !== orgId) throw invalid('filterId', 'The filter belongs to another organization');
  return checkedRule(ctx, orgId, saved.conditions, 'filterId');
}

/** The devices of a new static group. */
async function firstMembers(ctx: Context, group: DeviceGroup, { deviceIds, copyFrom }: GroupCreate): Promise<string[]> {
  if (deviceIds) return mustFit(ctx, group, deviceIds);
  if (!copyFrom) return [];
  const source = await mustSee(ctx, copyFrom);
  if (source.orgId !== group.orgId) throw GroupNotFound();
  const ids = (await membersOf(ctx, [source.id])).get(source.id) ?? [];
  const outside = new Set(await outsideOf(ctx, group, ids));
  return ids.filter((id) => !outside.has(id));
}

/** Returns 202 when the organization is so large that a job evaluates the filter. */
async function answer(ctx: Context, id: string, changes: Changes | null, status: 200 | 201): Promise<Reply> {
  const group = await DeviceGroup.in(ctx).findById(id);
  const [data] = group ? await shown(ctx, [group]) : [];
  const { added, removed } = changes ?? NOTHING;
  const evaluation = { added: added.length, ...(status === 200 ? { removed: removed.length } : {}) };
  return reply({ data, evaluation }, { status: changes ? status : 202 });
}

/** Throws ORG_REQUIRED, TARGET_OUT_OF_SCOPE, NAME_TAKEN, 400 with the path, 404 for a site, parent or source out of reach. */
export async function createGroup(ctx: Context, input: GroupCreate): Promise<Reply> {
  const orgId = targetOrg(ctx, input.orgId, () => errors.OrgRequired());
  const { name, type, description = null, siteId = null, parentId = null, filterId = null } = input;
  if (siteId) mustAccessSite(ctx, siteId);
  mustReachAll(ctx, { siteId });
  await ctx.use('tenancy').mustExistOrg(orgId);
  if (siteId) await ctx.use('tenancy').mustExistSite(siteId, orgId);
  const rule = await ruleOf(ctx, orgId, input);
  if (parentId) await mustFitBelow(ctx, orgId, parentId);
  const row = { orgId, name, type, description, siteId, parentId, filterId, ...rule };
  // reach: mustReachAll above checks the site of the new group
  const group = await DeviceGroup.query(ctx.trx)
    .insert({ ...row, createdBy: ctx.actor.id } as Partial<DeviceGroup>)
    .returning('*')
    .catch(throwNameTaken);
  const changes = type === 'dynamic' ? await evaluateAsked(ctx, group) : await fill(ctx, group, input);
  if (type === 'dynamic' && changes) evaluateOnceMore(ctx, group);
  const added = changes?.added.length ?? 0;
  ctx.audit('device_group.create', { orgId, resourceId: group.id, resourceName: name, details: { type, added } });
  return answer(ctx, group.id, changes, 201);
}

async function fill(ctx: Context, group: DeviceGroup, input: GroupCreate): Promise<Changes> {
  await takeTurn(ctx, group.id);
  const ids = await firstMembers(ctx, group, input);
  const changes = { added: await addMembers(ctx, group, ids, { reason: 'group_created' }), removed: [] };
  await settle(ctx, group, changes);
  return changes;
}

/** Requires `confirm` when users who are limited to the group would no longer see some devices. */
async function mustConfirm(ctx: Context, group: SeenGroup, siteId: string | null, confirm: boolean): Promise<void> {
  if (confirm || !group.isAccessRestricting || siteId === null) return;
  const ids = (await membersOf(ctx, [group.id])).get(group.id) ?? [];
  const outside = await outsideOf(ctx, { ...group, siteId }, ids);
  if (outside.length === 0) return;
  throw errors.InUse({
    message: 'Users are limited to this group and would lose devices outside the site: send confirm to continue',
    details: [{ devices: outside.length }],
  });
}

/**
 * Throws NO_UPDATES, 404, TARGET_OUT_OF_SCOPE, 403 without users:write if users are limited to the group, NAME_TAKEN,
 * STATIC_GROUP for a filter, IN_USE, and 422 for the tree.
 */
export async function updateGroup(ctx: Context, id: string, changes: GroupChanges): Promise<Reply> {
  const { confirm = false, filter, ...plain } = changes;
  const changedFields = Object.keys(changes).filter((field) => field !== 'confirm');
  if (changedFields.length === 0) throw errors.NoUpdates();
  const seen = await mustSee(ctx, id);
  // The lock of the tree before that of the group, as in removals.
  if (plain.parentId) await takeTreeTurn(ctx, seen.orgId);
  await takeTurn(ctx, id);
  const group = await mustSee(ctx, id);
  mustReachAll(ctx, group);
  mustGrant(ctx, group);
  const { orgId } = group;
  if (filter && group.type === 'static') throw StaticGroup();
  const rule = filter ? await checkedRule(ctx, orgId, filter) : null;
  if (plain.siteId !== undefined && plain.siteId !== group.siteId) {
    if (plain.siteId) mustAccessSite(ctx, plain.siteId);
    mustReachAll(ctx, { siteId: plain.siteId });
    if (plain.siteId) await ctx.use('tenancy').mustExistSite(plain.siteId, orgId);
    await mustConfirm(ctx, group, plain.siteId, confirm);
  }
  if (plain.parentId && plain.parentId !== group.parentId) await mustFitBelow(ctx, orgId, plain.parentId, id);
  const updated = await DeviceGroup.in(ctx)
    .where({ id })
    .patch({ ...plain, ...rule, updatedAt: new Date() } as Partial<DeviceGroup>)
    .returning('*')
    .first()
    .catch(throwNameTaken);
  if (!updated) throw GroupNotFound();
  const moved = plain.siteId !== undefined && plain.siteId !== group.siteId;
  const members = await follow(ctx, updated, { moved, refiltered: rule !== null });
  ctx.audit('device_group.update', {
    orgId,
    resourceId: id,
    resourceName: updated.name,
    details: { ...changesOf(group, updated, changedFields) },
  });
  return answer(ctx, id, members, 200);
}

/** Updates the members after a change of filter or site; null when a job does it. */
async function follow(
  ctx: Context,
  group: DeviceGroup,
  { moved, refiltered }: { moved: boolean; refiltered: boolean },
): Promise<Changes | null> {
  if (!moved && !refiltered) return NOTHING;
  if (group.type === 'static') return { added: [], removed: await dropOutside(ctx, group) };
  const changes = await evaluateAsked(ctx, group);
  if (changes) evaluateOnceMore(ctx, group);
  return changes;
}
