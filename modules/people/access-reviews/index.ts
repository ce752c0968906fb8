/** Access reviews: a reviewer checks the users of a tenant, and access that is no longer needed is revoked. */
import { defineModule } from '#core';
import { completedShape, createdShape, reviewCreate, reviewShape } from './models/access-review.ts';
import { decidedShape, itemDecision, itemShape } from './models/review-item.ts';

export default defineModule({
  name: 'access-reviews',
  title: 'Access reviews',
  summary: 'Reviewing who has access to a partner or an organization, and revoking it',
  requires: ['tenancy', 'users', 'roles'],
  default: 'on',
  schemas: {
    AccessReview: reviewShape,
    AccessReviewCompleted: completedShape,
    AccessReviewCreate: reviewCreate,
    AccessReviewCreated: createdShape,
    AccessReviewDecided: decidedShape,
    AccessReviewDecision: itemDecision,
    AccessReviewItem: itemShape,
  },
});
