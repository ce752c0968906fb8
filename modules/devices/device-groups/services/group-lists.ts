/** Groups as they are shown, with the members that the caller sees. */
import { type Context, isLimited, mustAccessSite, mustReachOrg, page, reach, type SortKey } from '#core';
import type { DeviceGroup, GroupQuery } from '../models/device-group.ts';
import { groupsIn, mustSee, RESTRICTING } from './reach.ts';
import { ancestorsOf } from './trees.ts';
import { usedBy } from './usages.ts';

const ORDER = {
  name: 'device-groups-by-name',
  keys: [
    { expression: 'lower(device_groups.name)', direction: 'asc', type: 'text' },
    { expression: 'device_groups.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};
/** Ids of members in each group of a list. */
const MAX_LISTED_IDS = 1000;

/**
 * The number of members of these groups that the caller sees. Only for limited callers: `device_count` is right for all others.
 */
export async function visibleCounts(ctx: Context, groupIds: readonly string[]): Promise<Map<string, number>> {
  const values: unknown[] = [groupIds];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ groupId: string; n: number }>(
    `select m.group_id as "groupId", count(*) as n from device_group_members m join devices d on d.id = m.device_id
     where m.group_id = any($1::uuid[]) and not m.is_excluded and ${seen} group by m.group_id`,
    values,
  );
  return new Map(rows.map(({ groupId, n }) => [groupId, n]));
}

/** Groups as the API shows them: without the fields of evaluations, and with the number of members that the caller sees. */
export async function shown(ctx: Context, groups: readonly DeviceGroup[]) {
  const ids = groups.map(({ id }) => id);
  const counts = isLimited(ctx) ? await visibleCounts(ctx, ids) : null;
  // reach: the groups come from groupsIn(), which limits them
  const { rows } = await ctx.sql<{ id: string }>(
    `select id from device_groups where id = any($1::uuid[]) and ${RESTRICTING}`,
    [ids],
  );
  const restricting = new Set(rows.map(({ id }) => id));
  return groups.map((group) => {
    const { evaluationFailures: _, heldSince: __, ...rest } = group.toJSON() as DeviceGroup;
    const deviceCount = counts ? (counts.get(group.id) ?? 0) : group.deviceCount;
    return { ...rest, deviceCount, isAccessRestricting: restricting.has(group.id) };
  });
}

/** The members of each of these groups that the caller sees, sorted; at most `maxIds` of each group when given. */
export async function membersOf(
  ctx: Context,
  groupIds: readonly string[],
  maxIds?: number,
): Promise<Map<string, string[]>> {
  const values: unknown[] = [groupIds, maxIds ?? null];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ groupId: string; ids: string[] }>(
    `select g.id as "groupId", array(
       select m.device_id from device_group_members m join devices d on d.id = m.device_id
       where m.group_id = g.id and not m.is_excluded and ${seen} order by m.device_id limit $2) as ids
     from unnest($1::uuid[]) g (id)`,
    values,
  );
  return new Map(rows.map(({ groupId, ids }) => [groupId, ids]));
}

/** Throws 404 or 403 for a given organization or site that is out of reach. */
export async function listGroups(ctx: Context, query: GroupQuery) {
  const { orgId, siteId, type, parentId, search, includeMemberships } = query;
  const groups = groupsIn(ctx);
  if (orgId) {
    mustReachOrg(ctx, orgId);
    groups.where('device_groups.orgId', orgId);
  }
  if (siteId) {
    mustAccessSite(ctx, siteId);
    groups.where('device_groups.siteId', siteId);
  }
  if (type) groups.where('device_groups.type', type);
  if (parentId === 'root') groups.whereNull('device_groups.parentId');
  else if (parentId) groups.where('device_groups.parentId', parentId);
  if (search) {
    groups.whereRaw(
      `strpos(lower(device_groups.name || ' ' || coalesce(device_groups.description, '')), lower(?)) > 0`,
      [search],
    );
  }
  const { data, pagination } = await page(groups, query, ORDER);
  const listed = await shown(ctx, data);
  if (!includeMemberships) return { data: listed, pagination };
  const ids = await membersOf(
    ctx,
    listed.map(({ id }) => id),
    MAX_LISTED_IDS,
  );
  return { data: listed.map((group) => ({ ...group, deviceIds: ids.get(group.id) ?? [] })), pagination };
}

/** Throws 404. Children that the caller does not see are left out. */
export async function readGroup(ctx: Context, id: string) {
  const group = await mustSee(ctx, id);
  const [first] = await shown(ctx, [group]);
  const children = await shown(ctx, await groupsIn(ctx).where({ parentId: id }).orderByRaw('lower(name), id'));
  return {
    data: {
      ...first,
      ancestors: await ancestorsOf(ctx, group),
      children: children.map(({ id, name, type, deviceCount }) => ({ id, name, type, deviceCount })),
      usedBy: await usedBy(ctx, group),
    },
  };
}
