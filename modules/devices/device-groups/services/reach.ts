/** Which groups a caller sees and may change, and which members of them. */
import { type Context, callerHolds, errors, isLimited, reach } from '#core';
import { GroupNotFound } from '../errors.ts';
import { DeviceGroup } from '../models/device-group.ts';

/** Users are limited to the group, so its members decide what they see. */
export const RESTRICTING = `exists (select from organization_users ou where ou.org_id = device_groups.org_id
  and device_groups.id = any(ou.device_group_ids))`;

/** Callers limited to groups see these; callers limited to sites see groups that are not bound to other sites. */
export function groupsIn(ctx: Context) {
  const { siteIds, groupIds } = ctx.scope;
  const groups = DeviceGroup.in(ctx);
  if (groupIds) groups.whereRaw('device_groups.id = any(?::uuid[])', [groupIds as string[]]);
  if (siteIds) {
    groups.whereRaw('(device_groups.site_id is null or device_groups.site_id = any(?::uuid[]))', [siteIds as string[]]);
  }
  return groups;
}

export interface SeenGroup extends DeviceGroup {
  isAccessRestricting: boolean;
}

/** Throws 404 for a group that the caller does not see. */
export async function mustSee(ctx: Context, id: string): Promise<SeenGroup> {
  const group = await groupsIn(ctx)
    .findById(id)
    .select('device_groups.*', DeviceGroup.raw(`${RESTRICTING} as is_access_restricting`));
  if (!group) throw GroupNotFound();
  return group as SeenGroup;
}

/** Throws 403 TARGET_OUT_OF_SCOPE unless the caller reaches every device that the group can contain. */
export function mustReachAll(ctx: Context, { siteId }: { siteId: string | null }): void {
  const { siteIds, groupIds } = ctx.scope;
  if (groupIds || (siteIds && (siteId === null || !siteIds.includes(siteId)))) throw errors.TargetOutOfScope();
}

/** A change of the members changes what users see: throws 403 unless the caller may also change users. */
export function mustGrant({ actor }: Context, { isAccessRestricting }: { isAccessRestricting: boolean }): void {
  if (!isAccessRestricting || callerHolds(actor, 'users:write', 'PATCH', true)) return;
  throw errors.Forbidden('Users are limited to this device group: changing it also requires users:write');
}

/** The ids that are not groups of the organization. Also used with the platform role. */
export async function missing(ctx: Context, orgId: string, ids: readonly string[]): Promise<string[]> {
  // reach: only tells which of the ids do not exist, when limits of people are checked
  const { rows } = await ctx.sql<{ id: string }>(
    'select id from device_groups where org_id = $1 and id = any($2::uuid[])',
    [orgId, ids],
  );
  return ids.filter((id) => !rows.some((row) => row.id === id));
}

/** Those of the ids that are groups of the organization, or of any organization of the partner. */
export async function known(
  ctx: Context,
  ids: readonly string[],
  { orgId, partnerId }: { orgId: string | null; partnerId: string | null },
): Promise<string[]> {
  // reach: only tells which of the ids exist, when a request names them
  const { rows } = await ctx.sql<{ id: string }>(
    `select id from device_groups where id = any($1::uuid[])
       and (org_id = $2 or org_id in (select o.id from organizations o where o.partner_id = $3 and o.deleted_at is null))`,
    [ids, orgId, partnerId],
  );
  return rows.map(({ id }) => id);
}

/** The ids that are not groups visible to the caller. */
export async function unseen(ctx: Context, ids: readonly string[]): Promise<string[]> {
  const seen = await groupsIn(ctx)
    .select('device_groups.id')
    .whereIn('device_groups.id', [...ids]);
  return ids.filter((id) => !seen.some((group) => group.id === id));
}

/** The ids of all groups that a limited caller sees; null for callers who see all of their organizations. */
export async function seenIds(ctx: Context): Promise<string[] | null> {
  if (!isLimited(ctx)) return null;
  return (await groupsIn(ctx).select('device_groups.id')).map(({ id }) => id);
}

/** The devices of the organization with these ids that the caller sees, without decommissioned ones. */
export async function seenDevices(ctx: Context, orgId: string, ids: readonly string[]) {
  const values: unknown[] = [orgId, ids];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ id: string; siteId: string; lifecycle: string; hostname: string }>(
    `select d.id, d.site_id as "siteId", d.lifecycle, d.hostname from devices d
     where d.org_id = $1 and d.id = any($2::uuid[]) and d.lifecycle <> 'decommissioned' and ${seen}`,
    values,
  );
  return rows;
}
