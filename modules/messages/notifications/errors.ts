/** Errors of this module. */
import { defineError } from '#core';

export const SubscriptionLimit = defineError(
  'PUSH_SUBSCRIPTION_LIMIT_REACHED',
  409,
  'A user has at most 20 browsers that take push messages',
);
