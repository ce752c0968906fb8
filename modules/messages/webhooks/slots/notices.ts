/** What people are told of webhooks. Administrators also have a mail of their own. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default [
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'webhooks.disabled',
      summary: 'A webhook was switched off because it fails',
      tell: {
        type: 'system',
        priority: 'high',
        permission: 'organizations:read',
        render: ({ webhookId, partnerId, name, consecutiveFailures }: Events['webhooks.disabled']) => ({
          title: `Webhook switched off: ${name}`,
          message: `${consecutiveFailures} deliveries in a row failed. Nothing is sent to it until somebody sets it active again.`,
          link: `/webhooks/${webhookId}`,
          metadata: { webhookId },
          dedupeKey: `webhook:${webhookId}`,
          partnerId,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'webhooks.failing',
      summary: 'Deliveries of a webhook fail in a row',
      tell: {
        type: 'system',
        priority: 'low',
        permission: 'organizations:read',
        render: ({ webhookId, partnerId, name, consecutiveFailures }: Events['webhooks.failing']) => ({
          title: `Webhook failing: ${name}`,
          message: `${consecutiveFailures} deliveries in a row could not be made.`,
          link: `/webhooks/${webhookId}`,
          metadata: { webhookId },
          dedupeKey: `webhook:${webhookId}`,
          partnerId,
        }),
      },
    },
  }),
];
