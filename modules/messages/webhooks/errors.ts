/** Errors of this module. */
import { defineError } from '#core';

export const UnknownEvent = defineError('UNKNOWN_EVENT', 400, 'There is no such kind of event');
export const NotFailed = defineError('NOT_FAILED', 400, 'Only a delivery that failed can be repeated');
export const WebhookLimit = defineError('WEBHOOK_LIMIT_REACHED', 409, 'An owner has at most 50 webhooks');
