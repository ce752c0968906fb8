/** The items of an access review: the decision about each user. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery } from '#core';
import { DECISIONS, decidedShape, type ItemQuery, itemDecision, itemShape } from '../models/review-item.ts';
import { decideItem, listItems } from '../services/items.ts';

interface ItemPath {
  id: string;
  itemId: string;
}

export default [
  defineRoute({
    method: 'GET',
    path: '/access-reviews/{id}/items',
    summary: 'Lists the items of an access review, by the names of the users',
    access: { permission: 'users:read' },
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    query: Joi.object<ItemQuery>({
      ...pageQuery(100, 1000),
      decision: Joi.string()
        .valid(...DECISIONS)
        .description('Only items decided so'),
    }),
    response: pageOf(itemShape),
    handler: (ctx, { params: { id }, query }) => listItems(ctx, id, query),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/access-reviews/{id}/items/{itemId}',
    summary: 'Decides about one user of an access review',
    access: { permission: 'users:write' },
    audit: 'access_review.item.update',
    params: Joi.object<ItemPath>({ id: Joi.string().uuid().required(), itemId: Joi.string().uuid().required() }),
    payload: itemDecision,
    response: decidedShape,
    errors: ['REVIEW_CLOSED', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id, itemId }, payload }) => decideItem(ctx, id, itemId, payload),
  }),
];
