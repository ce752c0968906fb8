/** Renames a tag in an organization, on its devices and in everything that refers to it. */
import { type Context, errors, reach, targetOrg } from '#core';
import { invalid } from '../errors.ts';
import renamed from '../events/renamed.ts';
import type { Rename } from '../models/tag-query.ts';

/** The number of devices that have the tag, and of those that the caller sees. */
async function countOf(ctx: Context, orgId: string, tag: string): Promise<{ all: number; seen: number }> {
  const values: unknown[] = [orgId, tag];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<{ all: number; seen: number }>(
    `select count(*) as all, count(*) filter (where ${seen}) as seen from devices d
     where d.org_id = $1 and d.tags @> array[$2::text]`,
    values,
  );
  return rows[0] ?? { all: 0, seen: 0 };
}

/**
 * Queues the job that renames the tag. Throws ORG_REQUIRED, 404 for a tag that no device has, TARGET_OUT_OF_SCOPE unless the
 * caller sees every device that has it, and 403 when the caller may not change an object that refers to it.
 */
export async function requestRename(ctx: Context, input: Rename) {
  const devices = ctx.use('devices');
  const orgId = targetOrg(ctx, input.orgId, () => errors.OrgRequired());
  await ctx.use('tenancy').mustExistOrg(orgId);
  const read = (path: 'from' | 'to') => {
    try {
      return devices.checkedTags([input[path]], path)[0] ?? '';
    } catch {
      throw invalid(path, `${path} is not a tag that users can set`);
    }
  };
  const [from, to] = [read('from'), read('to')];
  if (from === to) throw invalid('to', 'Both tags are the same');
  const { all: affected, seen } = await countOf(ctx, orgId, from);
  if (seen === 0) throw errors.NotFound('No device has this tag');
  if (seen < affected) throw errors.TargetOutOfScope();
  const references = [];
  for (const store of ctx.contributions('tags.references')) references.push(...(await store.find(ctx, orgId, from)));
  // Jobs of one queue run in order, because a tag can be renamed twice.
  ctx.addJob('tags/rename-tag', { from, to }, { orgId, queue: `tags:${orgId}` });
  ctx.audit('device.tags.rename', {
    orgId,
    resourceType: 'organization',
    resourceId: orgId,
    details: { from, to, affected, references: references.map(({ type, id }) => ({ type, id })) },
  });
  return { affected, references };
}

/**
 * Changes devices and references in one transaction: a group that follows the tag never sees it renamed in part, and so loses no
 * member. Repeats change nothing.
 */
export async function renameEverywhere(ctx: Context, orgId: string, from: string, to: string): Promise<void> {
  for (const store of ctx.contributions('tags.references')) await store.rename(ctx, orgId, from, to);
  const devices = await ctx.use('devices').renameTag(orgId, from, to);
  if (devices > 0) ctx.emit(renamed, { from, to, devices }, { orgId });
}
