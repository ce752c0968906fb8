/** What people are told of channels. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default defineFilling({
  slot: 'notifications.notice',
  value: {
    event: 'alert-channels.disabled',
    summary: 'A channel of alerts was switched off because it fails',
    tell: {
      type: 'alert',
      priority: 'high',
      permission: 'alerts:write',
      render: ({ channelId, partnerId, name, error, consecutiveFailures }: Events['alert-channels.disabled']) => ({
        title: `Alert channel switched off: ${name}`,
        message: `${consecutiveFailures} messages in a row failed, the last with: ${error}. Nothing is sent to it until somebody says that it is on again.`,
        link: `/alerts/channels/${channelId}`,
        metadata: { channelId },
        dedupeKey: `alert-channel:${channelId}`,
        partnerId,
      }),
    },
  },
});
