/** The access reviews of a tenant: finding and listing them. */
import { type Context, errors, type PageQuery, page, type SortKey, type TenantRef } from '#core';
import { AccessReview, showReview } from '../models/access-review.ts';
import { reviewedTenant } from './tenants.ts';

const ORDER = {
  name: 'access-reviews',
  keys: [
    { expression: 'access_reviews.created_at', direction: 'asc', type: 'timestamptz' },
    { expression: 'access_reviews.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};
/** The reviews of exactly this tenant: a partner's caller also reaches rows of its organizations, which are theirs. */
export function reviewsOf(ctx: Context, { orgId, partnerId }: TenantRef) {
  return AccessReview.in(ctx).where(orgId ? { orgId } : { partnerId });
}

export function listReviews(ctx: Context, query: PageQuery) {
  return page(reviewsOf(ctx, reviewedTenant(ctx)), query, ORDER, showReview);
}

export async function mustFind(ctx: Context, tenant: TenantRef, id: string): Promise<AccessReview> {
  const review = await reviewsOf(ctx, tenant).findById(id);
  if (!review) throw errors.NotFound('Access review not found');
  return review;
}

/** The review, held: decisions about it and its completion take turns. */
export async function mustLock(ctx: Context, tenant: TenantRef, id: string): Promise<AccessReview> {
  const review = await reviewsOf(ctx, tenant).findById(id).forNoKeyUpdate();
  if (!review) throw errors.NotFound('Access review not found');
  return review;
}
