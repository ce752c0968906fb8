/** One user of the reviewed tenant, with the role at that time and the decision. */
import Joi from 'joi';
import { Model, named, type PageQuery } from '#core';
import type { RoleThen } from './access-review.ts';

export type Decision = 'pending' | 'approved' | 'revoked';
export const DECISIONS: Decision[] = ['approved', 'revoked', 'pending'];

export interface ItemDecision {
  decision: Decision;
  notes?: string | null;
}
export interface ItemQuery extends PageQuery {
  decision?: Decision;
}

export class ReviewItem extends Model {
  static override tableName = 'access_review_items';
  static override partnerOwned = true;
  declare id: string;
  declare reviewId: string;
  declare userId: string;
  declare userName: string;
  declare userEmail: string;
  declare roleId: string;
  declare lastActiveAt: Date | null;
  declare decision: Decision;
  declare notes: string | null;
  declare reviewedAt: Date | null;
  declare reviewedBy: string | null;
  declare createdAt: Date;
}

const decision = Joi.string().valid(...DECISIONS);
export const itemDecision = named(
  'AccessReviewDecision',
  Joi.object<ItemDecision, true>({
    decision: decision.required(),
    notes: Joi.string().trim().max(10_000).allow('', null).description('Kept when absent'),
  }),
);

const decided = {
  id: Joi.string().uuid().required(),
  decision: decision.required(),
  notes: Joi.string().allow('', null).required(),
  reviewedAt: Joi.date().iso().allow(null).required(),
};
export const decidedShape = named('AccessReviewDecided', Joi.object(decided));
export const itemShape = named(
  'AccessReviewItem',
  Joi.object({
    ...decided,
    userId: Joi.string().uuid().required(),
    userName: Joi.string().required(),
    userEmail: Joi.string().required(),
    lastActiveAt: Joi.date().iso().allow(null).required().description('The last login'),
    roleId: Joi.string().uuid().required(),
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
