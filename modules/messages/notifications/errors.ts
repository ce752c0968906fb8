/** Errors of this module. */
import { defineError } from '#core';

export const UrlBlocked = defineError('URL_BLOCKED', 400, 'The URL may not be called');
export const SubscriptionLimit = defineError(
  'PUSH_SUBSCRIPTION_LIMIT_REACHED',
  409,
  'A user has at most 20 browsers that take push messages',
);
