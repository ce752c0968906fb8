/** The devices of a run, kept as they were when it began. */
import { type AddParameter, type Author, type Context, reach, type Target } from '#core';
import { TooManyTargets } from '../errors.ts';
import type { TargetDevice, TargetOwner } from '../models/resolved.ts';
import { selectOf } from './resolutions.ts';

export const MAX_DEVICES = 100_000;
const KEPT_DAYS = 90;

export interface Run {
  /** `<module>.<what>`. */
  kind: string;
  runId: string;
}

/**
 * Keeps the devices that the target is for now, at most 100,000, and returns how many. A run that is frozen already stays as it is, so a job
 * that runs twice finds the same devices. Two statements, and one more for an author.
 * @throws TOO_MANY_TARGETS, and what `resolve` throws
 */
export async function freeze(
  ctx: Context,
  { kind, runId }: Run,
  target: Target,
  owner: TargetOwner,
  author?: Author,
): Promise<number> {
  const made = await ctx.sql<{ id: string }>(
    `insert into target_sets (kind, run_id, org_id, partner_id, device_count, expires_at)
     values ($1, $2, $3, $4, 0, now() + make_interval(days => ${KEPT_DAYS}))
     on conflict (kind, run_id) do nothing returning id`,
    [kind, runId, owner.orgId, owner.partnerId],
  );
  const [set] = made.rows;
  if (!set) return countOf(ctx, { kind, runId });
  const { text, values, limit } = await selectOf(ctx, target, owner, author);
  const { rows } = await ctx.use('filters').limited({ limit }, () =>
    // reach: selectOf() keeps to what the caller or the author reaches
    ctx.sql<{ count: number }>(
      `with kept as (
         insert into target_set_devices (set_id, device_id, org_id, site_id)
         select $${values.length + 1}::uuid, t.id, t."orgId", t."siteId" from (${text} limit ${MAX_DEVICES + 1}) t returning 1)
       update target_sets set device_count = (select count(*) from kept) where id = $${values.length + 1}::uuid
       returning device_count as count`,
      [...values, set.id],
    ),
  );
  const count = rows[0]?.count ?? 0;
  if (count > MAX_DEVICES) throw TooManyTargets();
  return count;
}

async function countOf(ctx: Context, { kind, runId }: Run): Promise<number> {
  const { rows } = await ctx.sql<{ count: number }>(
    'select device_count as count from target_sets where kind = $1 and run_id = $2',
    [kind, runId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Devices of a run by id, as far as the caller reaches them. For work in steps: `after` is the last id of the step before.
 * @param limit at most 10,000
 */
export async function frozenDevices(
  ctx: Context,
  { kind, runId }: Run,
  { after, limit }: { after?: string | null; limit: number },
): Promise<TargetDevice[]> {
  const values: unknown[] = [kind, runId, after ?? null, Math.min(limit, 10_000)];
  const add: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
  const seen = reach(ctx, 't', add, { org: 'org_id', site: 'site_id', device: 'device_id' });
  const { rows } = await ctx.sql<TargetDevice>(
    `select t.device_id as id, t.org_id as "orgId", t.site_id as "siteId"
     from target_sets s join target_set_devices t on t.set_id = s.id
     where s.kind = $1 and s.run_id = $2 and ($3::uuid is null or t.device_id > $3) and ${seen}
     order by t.device_id limit $4`,
    values,
  );
  return rows;
}

/** Removes expired sets, some at a time; returns whether there are more. Platform role. */
export async function pruneSets(ctx: Context): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    'delete from target_sets where id in (select id from target_sets where expires_at < now() order by expires_at limit 20)',
  );
  return rowCount === 20;
}
