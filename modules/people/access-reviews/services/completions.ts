/** Completing an access review: the revoked lose their place, all of them or none. */
import { type Context, errors, mustHold, type TenantRef } from '#core';
import { ItemsPending, ReviewCompleted } from '../errors.ts';
import type { AccessReview } from '../models/access-review.ts';
import { mustLock, reviewsOf } from './reviews.ts';
import { entryOf, idOf, membersOf, writtenTenant } from './tenants.ts';

interface Leaving {
  userId: string;
  roleId: string;
}

/**
 * One transaction, with the review held: a second completion waits and then finds it completed, and so does a decision
 * that comes meanwhile. Throws 404, 400 for a completed review or one with pending items, 403 when a revoked user may do
 * what the caller may not, and 409 LAST_ADMINISTRATOR; then nothing has changed. Needs platform work.
 */
export async function completeReview(ctx: Context, id: string) {
  const tenant = writtenTenant(ctx);
  const review = await mustLock(ctx, tenant, id);
  if (review.status === 'completed') throw ReviewCompleted();
  const { rowCount: pending } = await ctx.sql(
    `select from access_review_items where review_id = $1 and decision = 'pending' limit 1`,
    [id],
  );
  if (pending) throw ItemsPending();
  const leaving = await stillThere(ctx, tenant, id);
  await mustMayRemove(ctx, leaving);
  await keepLastLogins(ctx, tenant, id);
  let revokedCount = 0;
  for (const { userId } of leaving) if (await ctx.use('users').removeMember(tenant, userId)) revokedCount += 1;
  const now = new Date();
  const done = await close(ctx, tenant, id, now);
  ctx.audit('access_review.complete', entryOf(tenant, done, { revokedCount }));
  return { id, status: done.status, completedAt: done.completedAt, revokedCount };
}

/** The revoked who still belong to the tenant, in whatever role; the others have left already. */
async function stillThere(ctx: Context, tenant: TenantRef, id: string): Promise<Leaving[]> {
  const { rows } = await ctx.sql<Leaving>(
    `select m.user_id as "userId", m.role_id as "roleId"
     from access_review_items i join (${membersOf(tenant)}) m on m.user_id = i.user_id
     where i.review_id = $2 and i.decision = 'revoked' order by m.user_id`,
    [idOf(tenant), id],
  );
  return rows;
}

/** As with removing a user: callers cannot remove users who have permissions that they lack. */
async function mustMayRemove(ctx: Context, leaving: Leaving[]): Promise<void> {
  const pairs = new Set<string>();
  for (const roleId of new Set(leaving.map((one) => one.roleId))) {
    for (const pair of await ctx.use('roles').permissionsOf(roleId)) pairs.add(pair);
  }
  mustHold(ctx, pairs, 'items');
}

/** From now on the items stay as they are, so the last logins are those of this moment. */
async function keepLastLogins(ctx: Context, tenant: TenantRef, id: string): Promise<void> {
  await ctx.sql(
    `update access_review_items i set last_active_at = u.last_login_at
     from (${membersOf(tenant)}) m join users u on u.id = m.user_id
     where i.review_id = $2 and u.id = i.user_id and u.last_login_at is distinct from i.last_active_at`,
    [idOf(tenant), id],
  );
}

async function close(ctx: Context, tenant: TenantRef, id: string, now: Date): Promise<AccessReview> {
  const done = await reviewsOf(ctx, tenant)
    .findById(id)
    .whereNot('status', 'completed')
    .patch({ status: 'completed', completedAt: now, updatedAt: now })
    .returning('*')
    .first();
  if (!done) throw errors.InternalError();
  return done;
}
