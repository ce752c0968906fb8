/** /access-reviews: listing, creating, reading and completing reviews. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { completedShape, createdShape, reviewCreate, reviewShape } from '../models/access-review.ts';
import { itemShape } from '../models/review-item.ts';
import { createReview } from '../services/beginnings.ts';
import { completeReview } from '../services/completions.ts';
import { readReview } from '../services/items.ts';
import { listReviews } from '../services/reviews.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/access-reviews',
    summary: 'Lists the access reviews of the tenant, oldest first',
    access: { permission: 'users:read' },
    query: Joi.object<PageQuery>(pageQuery(1000, 1000)),
    response: pageOf(reviewShape),
    handler: (ctx, { query }) => listReviews(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/access-reviews/{id}',
    summary: 'Reads an access review with its items, ordered by user name',
    description: 'At most 10,000 items; /access-reviews/{id}/items lists any number in pages.',
    access: { permission: 'users:read' },
    params,
    response: reviewShape.keys({ items: Joi.array().items(itemShape).required() }),
    handler: (ctx, { params: { id } }) => readReview(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/access-reviews',
    summary: 'Starts an access review: one pending item for each user of the tenant',
    access: { permission: 'users:write' },
    audit: 'access_review.create',
    payload: reviewCreate,
    response: createdShape,
    status: 201,
    errors: ['TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { payload }) => createReview(ctx, payload),
  }),
  defineRoute({
    method: 'POST',
    path: '/access-reviews/{id}/complete',
    summary: 'Completes an access review: users whose item is revoked lose their membership',
    access: { permission: 'users:write' },
    audit: 'access_review.complete',
    work: { platform: 'the tenant role cannot read sessions; every query names the tenant' },
    params,
    response: completedShape,
    errors: ['REVIEW_COMPLETED', 'REVIEW_ITEMS_PENDING', 'LAST_ADMINISTRATOR', 'INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id } }) => completeReview(ctx, id),
  }),
];
