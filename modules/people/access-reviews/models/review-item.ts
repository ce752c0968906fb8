/** One user of the reviewed tenant, with the role at that time and the decision. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named, type PageQuery } from '#core';
import type { RoleThen } from './access-review.ts';

export type Decision = 'pending' | 'approved' | 'revoked';
export const DECISIONS: Decision[] = ['approved', 'revoked', 'pending'];

export interface ItemQuery extends PageQuery {
  decision?: Decision;
}

const items = defineTable('access_review_items', {
  id: column.uuid(),
  reviewId: column.uuid(),
  userId: column.uuid(),
  userName: column.text(),
  userEmail: column.text(),
  roleId: column.uuid(),
  lastActiveAt: column.of<Date | null>(
    Joi.date().iso().allow(null),
    Joi.date().iso().allow(null).description('The last login'),
  ),
  decision: column.oneOf(...DECISIONS),
  notes: column.of<string | null>(
    Joi.string().trim().max(10_000).allow('', null).description('Kept when absent'),
    Joi.string().allow('', null),
  ),
  reviewedAt: column.nullable(column.time()),
  reviewedBy: column.nullable(column.uuid()),
  createdAt: column.time(),
});

export class ReviewItem extends items.Model {
  static override partnerOwned = true;
}

export const itemDecision = named(
  'AccessReviewDecision',
  items.input(['decision', 'notes'], { required: ['decision'] }),
);
export type ItemDecision = InputOf<typeof itemDecision>;

const DECIDED = ['id', 'decision', 'notes', 'reviewedAt'] as const;
export const decidedShape = named('AccessReviewDecided', items.answer(DECIDED));
export const itemShape = named(
  'AccessReviewItem',
  items.answer([...DECIDED, 'userId', 'userName', 'userEmail', 'lastActiveAt', 'roleId']).append({
    roleName: Joi.string().required(),
    permissions: Joi.array().items(Joi.string()).required().description('Including inherited ones'),
  }),
);

/** An item with the name and permissions of its role when the review began. */
export function showItem(item: ReviewItem, roles: Record<string, RoleThen>) {
  const { id, userId, userName, userEmail, lastActiveAt, roleId, decision: made, notes, reviewedAt } = item;
  const { name: roleName = '', permissions = [] } = roles[roleId] ?? {};
  return {
    ...{ id, userId, userName, userEmail, lastActiveAt, roleId, roleName },
    ...{ decision: made, notes, reviewedAt, permissions },
  };
}
