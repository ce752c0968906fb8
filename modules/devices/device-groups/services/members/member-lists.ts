/** The devices of a group, as GET /devices lists them. */
import { type Context, type PageQuery, reach } from '#core';
import { mustSee } from '../reach.ts';

export interface MemberQuery extends PageQuery {
  search?: string;
  status?: string[];
  /** True for the exceptions of a dynamic group, including excluded devices; false for all other members. */
  pinned?: boolean;
}
const WHICH = {
  all: 'not m.is_excluded',
  true: '(m.is_pinned or m.is_excluded)',
  false: 'not (m.is_pinned or m.is_excluded)',
};

/** Throws 404 for a group that the caller does not see. */
export async function listMembers(ctx: Context, groupId: string, { pinned, ...query }: MemberQuery) {
  await mustSee(ctx, groupId);
  const which = WHICH[String(pinned ?? 'all') as keyof typeof WHICH];
  const answer = await ctx.use('devices').listPage(query, (first) => ({
    // reach: a condition for the list of devices, which contains reach()
    where: `exists (select from device_group_members m where m.device_id = d.id and m.group_id = $${first}::uuid and ${which})`,
    params: [groupId],
    joins: [],
    removed: false,
    limited: (run) => run(),
  }));
  // reach: the devices of the page above, which contains reach()
  const { rows } = await ctx.sql<{ id: string }>(
    `select device_id as id, is_pinned as "isPinned", is_excluded as "isExcluded", added_at as "addedAt",
       added_by as "addedBy" from device_group_members where group_id = $1 and device_id = any($2::uuid[])`,
    [groupId, answer.data.map(({ id }) => id)],
  );
  const memberships = new Map(rows.map(({ id, ...rest }) => [id, rest]));
  return { ...answer, data: answer.data.map((device) => ({ ...device, ...memberships.get(device.id) })) };
}

/** The groups of devices that the caller sees, for their details; each device has an entry. */
export async function groupsOfDevices(ctx: Context, deviceIds: readonly string[]): Promise<Map<string, object[]>> {
  const { siteIds, groupIds } = ctx.scope;
  // reach: devices that the caller was shown, and groups limited by $2 and $3 as in groupsIn()
  const { rows } = await ctx.sql<{ deviceId: string; id: string; name: string; type: string; isPinned: boolean }>(
    `select m.device_id as "deviceId", g.id, g.name, g.type, m.is_pinned as "isPinned"
     from device_group_members m join device_groups g on g.id = m.group_id
     where m.device_id = any($1::uuid[]) and not m.is_excluded and ($2::uuid[] is null or g.id = any($2))
       and ($3::uuid[] is null or g.site_id is null or g.site_id = any($3))
     order by lower(g.name), g.id`,
    [deviceIds, groupIds, siteIds],
  );
  const groups = new Map<string, object[]>(deviceIds.map((id) => [id, []]));
  for (const { deviceId, ...group } of rows) groups.get(deviceId)?.push(group);
  return groups;
}

/** The ids of the groups of each of these devices that the caller sees. */
export async function groupsOf(ctx: Context, deviceIds: readonly string[]): Promise<Map<string, string[]>> {
  const values: unknown[] = [deviceIds];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ deviceId: string; groupIds: string[] }>(
    `select m.device_id as "deviceId", array_agg(m.group_id order by m.group_id) as "groupIds"
     from device_group_members m join devices d on d.id = m.device_id
     where m.device_id = any($1::uuid[]) and not m.is_excluded and ${seen} group by m.device_id`,
    values,
  );
  return new Map(rows.map(({ deviceId, groupIds }) => [deviceId, groupIds]));
}
