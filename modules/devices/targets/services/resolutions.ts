/** The devices that a target is for now. */
import { type Author, type AuthorLimits, authorNow, type Context, type Target } from '#core';
import { OwnerAccessLost } from '../errors.ts';
import type { TargetDevice, TargetOwner } from '../models/resolved.ts';
import { conditionsOf, LIVING } from './conditions.ts';

/**
 * Active devices of the owner that the target names and does not exclude, by id. Without an author, as far as the caller reaches; with one, as
 * far as that person or key reaches now. One statement, and one more for an author.
 * @throws OWNER_ACCESS_LOST, VALIDATION_ERROR, FILTER_TOO_EXPENSIVE
 */
export async function resolve(
  ctx: Context,
  target: Target,
  owner: TargetOwner,
  author?: Author,
): Promise<TargetDevice[]> {
  const { text, values, limit } = await selectOf(ctx, target, owner, author);
  const { rows } = await ctx
    .use('filters')
    .limited({ limit }, () => ctx.sql<TargetDevice>(`${text} order by d.id`, values));
  return rows;
}

/** The statement that selects `id`, `orgId` and `siteId` of the devices. */
export async function selectOf(ctx: Context, target: Target, owner: TargetOwner, author: Author | undefined) {
  const { joins, within, named, excluded, values, limit } = await conditionsOf(
    ctx,
    target,
    owner,
    await limitsOf(ctx, owner, author),
  );
  // reach: `within` holds the owner's organizations and reach() of the caller or the author
  const text = `select d.id, d.org_id as "orgId", d.site_id as "siteId" from devices d ${joins}
    where ${within} and ${LIVING} and ${named} and not ${excluded}`;
  return { text, values, limit };
}

async function limitsOf(ctx: Context, owner: TargetOwner, author: Author | undefined): Promise<AuthorLimits> {
  if (!author) return ctx.scope;
  const found = await authorNow(ctx, author, owner);
  if (!found) throw OwnerAccessLost();
  return found.limits;
}
