/** Errors of this module. */
import { defineError } from '#core';

export const ReviewCompleted = defineError('REVIEW_COMPLETED', 400, 'Review is already completed');
export const ReviewClosed = defineError('REVIEW_CLOSED', 400, 'Cannot modify completed review');
export const ItemsPending = defineError('REVIEW_ITEMS_PENDING', 400, 'Cannot complete review with pending items');
