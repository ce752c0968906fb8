/** Whether a target may be saved: everything that it names is the owner's, and the caller reaches it. */
import { type AddParameter, type Context, errors, type Target } from '#core';
import { ForeignTargets } from '../errors.ts';
import type { TargetOwner } from '../models/resolved.ts';
import { conditionsOf } from './conditions.ts';

type Kind = 'organizations' | 'sites' | 'groups' | 'devices';

/**
 * The target to store: with the conditions of a saved filter copied, and tags as they are stored with devices.
 * @param path of the target in the request, for the paths of faults
 * @throws FOREIGN_TARGETS with the ids that the owner does not have, 403 TARGET_OUT_OF_SCOPE where a caller with a limit to sites or
 *   groups names more than that, 404 for a saved filter out of reach, VALIDATION_ERROR with the path of each fault
 */
export async function checkTarget(ctx: Context, given: Target, owner: TargetOwner, path = 'target'): Promise<Target> {
  const target = await normalized(ctx, given, path);
  const named: [Kind, readonly string[], string][] = [
    ...(target.ids ? [[target.type as Kind, target.ids, `${path}.ids`] as [Kind, string[], string]] : []),
    ['sites', target.exclude?.siteIds ?? [], `${path}.exclude.siteIds`],
    ['groups', target.exclude?.groupIds ?? [], `${path}.exclude.groupIds`],
    ['devices', target.exclude?.deviceIds ?? [], `${path}.exclude.deviceIds`],
  ];
  for (const [kind, ids, at] of named) await mustBelong(ctx, kind, ids, owner, at);
  await mustReachTarget(ctx, target, owner);
  // Says what is wrong with a filter.
  if (target.type === 'filter') await conditionsOf(ctx, target, owner, ctx.scope, path);
  return target;
}

async function normalized(ctx: Context, given: Target, path: string): Promise<Target> {
  const { tags, exclude } = given;
  const devices = ctx.use('devices');
  const target: Target = {
    ...given,
    ...(tags ? { tags: devices.checkedTags(tags, `${path}.tags`) } : {}),
    ...(exclude?.tags
      ? { exclude: { ...exclude, tags: devices.checkedTags(exclude.tags, `${path}.exclude.tags`) } }
      : {}),
  };
  if (!given.filterId) return target;
  const { conditions } = await ctx.use('filters').read(given.filterId);
  return { ...target, filter: conditions as unknown as Record<string, unknown> };
}

async function mustBelong(
  ctx: Context,
  kind: Kind,
  ids: readonly string[],
  { orgId, partnerId }: TargetOwner,
  path: string,
): Promise<void> {
  if (ids.length === 0) return;
  const values: unknown[] = [ids];
  const add: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
  const org = kind === 'organizations' ? 't.id' : 't.org_id';
  const own = orgId
    ? `${org} = ${add(orgId, 'uuid')}`
    : `${org} in (select o.id from organizations o where o.partner_id = ${add(partnerId, 'uuid')} and o.deleted_at is null)`;
  const found =
    kind === 'groups'
      ? await ctx.use('device-groups').known(ids, { orgId, partnerId })
      : // reach: tells which ids the owner has; what the caller reaches of them is asked apart
        (
          await ctx.sql<{ id: string }>(`select t.id from ${kind} t where t.id = any($1::uuid[]) and ${own}`, values)
        ).rows.map(({ id }) => id);
  const known = new Set(found);
  const foreign = ids.filter((id) => !known.has(id));
  if (foreign.length === 0) return;
  throw ForeignTargets({ details: [{ in: 'payload', path, ids: foreign.slice(0, 100), count: foreign.length }] });
}

/** Callers with a limit to sites or groups may name what lies within it: their sites, their groups, devices that they reach. */
async function mustReachTarget(ctx: Context, { type, ids = [] }: Target, owner: TargetOwner): Promise<void> {
  const { siteIds, groupIds } = ctx.scope;
  if (!siteIds && !groupIds) return;
  const within = (limit: readonly string[] | null) => limit !== null && ids.every((id) => limit.includes(id));
  if (type === 'sites' && !groupIds && within(siteIds)) return;
  if (type === 'groups' && !siteIds && within(groupIds)) return;
  if (type === 'devices') {
    const { within: reached, values } = await conditionsOf(ctx, { type: 'all' }, owner, ctx.scope);
    // reach: `reached` holds reach() of the caller
    const { rows } = await ctx.sql<{ id: string }>(
      `select d.id from devices d where ${reached} and d.id = any($${values.length + 1}::uuid[])`,
      [...values, ids],
    );
    if (rows.length === ids.length) return;
  }
  throw errors.TargetOutOfScope();
}
