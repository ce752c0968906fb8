/** What a filter would change in a group, before it is saved. */
import { type Context, reach } from '#core';
import { StaticGroup } from '../../errors.ts';
import type { ConditionTree } from '../../models/condition-tree.ts';
import type { DeviceGroup } from '../../models/device-group.ts';
import { mustSee } from '../reach.ts';
import { checkedRule } from './rules.ts';

interface Diff {
  toAdd: number;
  toRemove: number;
  pinned: number;
  excluded: number;
  evaluatedAt: Date;
}

/** A condition for the devices that can be in the group: active, in its organization and site. Parameters begin at `$first`. */
async function candidates(ctx: Context, group: DeviceGroup, filter: unknown, first: number, path: string) {
  const { orgId, siteId } = group;
  const filters = ctx.use('filters');
  const compiled = await filters.compile(filter, { orgIds: [orgId], first: first + 2, path });
  return {
    where: `d.org_id = $${first}::uuid and ($${first + 1}::uuid is null or d.site_id = $${first + 1}::uuid)
      and d.lifecycle = 'active' and (${compiled.where})`,
    params: [orgId, siteId, ...compiled.params],
    joins: compiled.joins,
    removed: true,
    limited: <T>(run: () => Promise<T>) => filters.limited(compiled, run),
  };
}

/** Counts only devices that the caller sees. */
async function diffOf(ctx: Context, group: DeviceGroup, filter: unknown, path: string): Promise<Diff> {
  const values: unknown[] = [group.id];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { where, params, joins, limited } = await candidates(ctx, group, filter, values.length + 1, path);
  const text = `
    with matched as materialized (
      select d.id from devices d ${joins.map((join) => join.sql).join(' ')} where ${seen} and ${where}),
    members as materialized (
      select m.device_id, m.is_pinned, m.is_excluded from device_group_members m join devices d on d.id = m.device_id
      where m.group_id = $1 and ${seen})
    select
      (select count(*) from matched a where not exists (select from members m where m.device_id = a.id)) as "toAdd",
      (select count(*) from members m where not m.is_pinned and not m.is_excluded
         and not exists (select from matched a where a.id = m.device_id)) as "toRemove",
      (select count(*) from members where is_pinned) as pinned,
      (select count(*) from members where is_excluded) as excluded,
      now() as "evaluatedAt"`;
  const { rows } = await limited(() => ctx.sql<Diff>(text, [...values, ...params]));
  return rows[0] ?? { toAdd: 0, toRemove: 0, pinned: 0, excluded: 0, evaluatedAt: new Date() };
}

/**
 * Previews the stored filter, or one that is not saved yet; only the latter writes an audit entry. Throws 404, STATIC_GROUP when
 * there is no filter, FILTER_RECURSION, FILTER_TOO_EXPENSIVE and VALIDATION_ERROR.
 */
export async function previewGroup(
  ctx: Context,
  id: string,
  { filter, limit }: { filter?: ConditionTree; limit: number },
) {
  const group = await mustSee(ctx, id);
  if (filter) await checkedRule(ctx, group.orgId, filter);
  const asked = filter ?? group.filter;
  if (!asked) throw StaticGroup();
  const { data, pagination } = await ctx
    .use('devices')
    .listPage({ limit, page: 1 }, (first) => candidates(ctx, group, asked, first, 'filter'));
  const { evaluatedAt, ...diff } = await diffOf(ctx, group, asked, 'filter');
  const totalCount = 'total' in pagination ? pagination.total : data.length;
  if (filter) {
    ctx.audit('device_group.preview', {
      orgId: group.orgId,
      resourceType: 'device_group',
      resourceId: id,
      resourceName: group.name,
      details: { totalCount, limit },
    });
  } else ctx.unchanged();
  const devices = data.map((device) => ({
    id: device.id,
    hostname: device.hostname,
    displayName: device.displayName,
    osType: device.osType,
    status: device.status,
    lastSeenAt: device.lastSeenAt,
  }));
  return { data: { totalCount, devices, evaluatedAt, diff } };
}
