/** A review of the users of a tenant; it keeps the roles as they were when it began. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named } from '#core';

/** A role as it was when the review began. */
export interface RoleThen {
  name: string;
  permissions: string[];
}

const reviews = defineTable('access_reviews', {
  id: column.uuid(),
  orgId: column.nullable(column.uuid()),
  partnerId: column.nullable(column.uuid()),
  name: column.text(Joi.string().trim().min(1).max(255)),
  description: column.of<string | null>(Joi.string().trim().max(10_000).allow('', null), Joi.string().allow('', null)),
  status: column.oneOf('pending', 'in_progress', 'completed'),
  reviewerId: column.of<string>(
    Joi.string().uuid().description('A user of the same tenant; the caller when absent'),
    Joi.string().uuid(),
  ),
  reviewerName: column.text(),
  dueDate: column.nullable(column.time()),
  roles: column.object<Record<string, RoleThen>>(),
  createdAt: column.time(),
  updatedAt: column.time(),
  completedAt: column.nullable(column.time()),
});

export class AccessReview extends reviews.Model {
  static override partnerOwned = true;
  static override jsonAttributes = ['roles'];
}

export const reviewCreate = named(
  'AccessReviewCreate',
  reviews.input(['name', 'description', 'dueDate', 'reviewerId'], { required: ['name'] }),
);
export type ReviewCreate = InputOf<typeof reviewCreate>;

export const reviewShape = named(
  'AccessReview',
  reviews.answer([
    ...(['id', 'name', 'description', 'status', 'reviewerId', 'reviewerName', 'dueDate', 'createdAt'] as const),
    'completedAt',
  ]),
);
export const createdShape = named(
  'AccessReviewCreated',
  reviews.answer(['id', 'name', 'status']).append({ itemCount: Joi.number().integer().required() }),
);
export const completedShape = named(
  'AccessReviewCompleted',
  reviews.answer(['id', 'status']).append({
    completedAt: Joi.date().iso().required(),
    revokedCount: Joi.number().integer().required(),
  }),
);

/** A review in a list. */
export function showReview(review: AccessReview) {
  const { id, name, description, status: now, reviewerId, reviewerName, dueDate, createdAt, completedAt } = review;
  return { id, name, description, status: now, reviewerId, reviewerName, dueDate, createdAt, completedAt };
}
