/** Items of an access review: reading them, and deciding about each. */
import { type Context, errors, page, type SortKey } from '#core';
import { ReviewClosed } from '../errors.ts';
import { type AccessReview, showReview } from '../models/access-review.ts';
import { type ItemDecision, type ItemQuery, ReviewItem, showItem } from '../models/review-item.ts';
import { mustFind, mustLock, reviewsOf } from './reviews.ts';
import { entryOf, reviewedTenant, writtenTenant } from './tenants.ts';

const ORDER = {
  name: 'access-review-items',
  keys: [
    { expression: 'lower(access_review_items.user_name)', direction: 'asc', type: 'text' },
    { expression: 'access_review_items.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** While a review is open, its items tell of logins since; a completed one stays as it was. */
export function itemsOf(ctx: Context, review: AccessReview) {
  const items = ReviewItem.in(ctx).where({ reviewId: review.id }).select('access_review_items.*');
  if (review.completedAt) return items;
  return items
    .leftJoin('users', 'users.id', 'access_review_items.user_id')
    .select(ReviewItem.raw('greatest(access_review_items.last_active_at, users.last_login_at) as last_active_at'));
}

/** Items that one answer carries; a tenant with more reads them in pages. */
const MOST_INLINE = 10_000;

export async function readReview(ctx: Context, id: string) {
  const review = await mustFind(ctx, reviewedTenant(ctx), id);
  const items = await itemsOf(ctx, review).orderByRaw('lower(user_name), access_review_items.id').limit(MOST_INLINE);
  return { ...showReview(review), items: items.map((item) => showItem(item, review.roles)) };
}

export async function listItems(ctx: Context, id: string, query: ItemQuery) {
  const review = await mustFind(ctx, reviewedTenant(ctx), id);
  const items = itemsOf(ctx, review);
  if (query.decision) items.where('access_review_items.decision', query.decision);
  return page(items, query, ORDER, (item) => showItem(item, review.roles));
}

/**
 * Any user of the tenant with users:write may decide, not only the reviewer, and change a decision until the review is
 * completed. Throws 404, and 400 for a completed review.
 */
export async function decideItem(ctx: Context, id: string, itemId: string, { decision, notes }: ItemDecision) {
  const tenant = writtenTenant(ctx);
  const review = await mustLock(ctx, tenant, id);
  if (review.status === 'completed') throw ReviewClosed();
  const now = new Date();
  const item = await ReviewItem.in(ctx)
    .findById(itemId)
    .where({ reviewId: id })
    .patch({ decision, ...(notes === undefined ? {} : { notes }), reviewedAt: now, reviewedBy: ctx.actor.id })
    .returning('*')
    .first();
  if (!item) throw errors.NotFound('Access review item not found');
  await reviewsOf(ctx, tenant).findById(id).patch({ status: 'in_progress', updatedAt: now });
  ctx.audit('access_review.item.update', {
    ...entryOf(tenant, review, { reviewId: id, decision }),
    resourceType: 'access_review_item',
    resourceId: itemId,
    resourceName: item.userEmail,
  });
  return { id: item.id, decision: item.decision, notes: item.notes, reviewedAt: item.reviewedAt };
}
