/** A review of the users of a tenant; it keeps the roles as they were when it began. */
import Joi from 'joi';
import { Model, named } from '#core';

export type ReviewStatus = 'pending' | 'in_progress' | 'completed';
export interface ReviewCreate {
  name: string;
  description?: string | null;
  dueDate?: Date | null;
  reviewerId?: string;
}
/** A role as it was when the review began. */
export interface RoleThen {
  name: string;
  permissions: string[];
}

export class AccessReview extends Model {
  static override tableName = 'access_reviews';
  static override partnerOwned = true;
  static override jsonAttributes = ['roles'];
  declare id: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare name: string;
  declare description: string | null;
  declare status: ReviewStatus;
  declare reviewerId: string;
  declare reviewerName: string;
  declare dueDate: Date | null;
  declare roles: Record<string, RoleThen>;
  declare createdAt: Date;
  declare updatedAt: Date;
  declare completedAt: Date | null;
}

export const reviewCreate = named(
  'AccessReviewCreate',
  Joi.object<ReviewCreate, true>({
    name: Joi.string().trim().min(1).max(255).required(),
    description: Joi.string().trim().max(10_000).allow('', null),
    dueDate: Joi.date().iso().allow(null),
    reviewerId: Joi.string().uuid().description('A user of the same tenant; the caller when absent'),
  }),
);

const status = Joi.string().valid('pending', 'in_progress', 'completed').required();
export const reviewShape = named(
  'AccessReview',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    description: Joi.string().allow('', null).required(),
    status,
    reviewerId: Joi.string().uuid().required(),
    reviewerName: Joi.string().required(),
    dueDate: Joi.date().iso().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    completedAt: Joi.date().iso().allow(null).required(),
  }),
);
export const createdShape = named(
  'AccessReviewCreated',
  Joi.object({
    id: Joi.string().uuid().required(),
    name: Joi.string().required(),
    status,
    itemCount: Joi.number().integer().required(),
  }),
);
export const completedShape = named(
  'AccessReviewCompleted',
  Joi.object({
    id: Joi.string().uuid().required(),
    status,
    completedAt: Joi.date().iso().required(),
    revokedCount: Joi.number().integer().required(),
  }),
);

/** A review in a list. */
export function showReview(review: AccessReview) {
  const { id, name, description, status: now, reviewerId, reviewerName, dueDate, createdAt, completedAt } = review;
  return { id, name, description, status: now, reviewerId, reviewerName, dueDate, createdAt, completedAt };
}
