/** What people are told of plugins, and by them. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

export default [
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'plugins.notified',
      summary: 'A plugin has something to say',
      tell: {
        type: 'system',
        priority: 'normal',
        permission: 'devices:read',
        render: ({ installationId, slug, title, message }: Events['plugins.notified']) => ({
          title: `${slug}: ${title}`,
          message,
          link: `/plugins/${installationId}`,
          metadata: { installationId },
          dedupeKey: `plugin:${installationId}:${title}`,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'plugins.quarantined',
      summary: 'A plugin was switched off because it misbehaves',
      tell: {
        type: 'system',
        priority: 'high',
        permission: 'organizations:write',
        render: ({ installationId, partnerId, slug, reason }: Events['plugins.quarantined']) => ({
          title: `Plugin switched off: ${slug}`,
          message: `${reason}. It stays off until somebody enables it again.`,
          link: `/plugins/${installationId}`,
          metadata: { installationId },
          dedupeKey: `plugin:${installationId}`,
          partnerId,
        }),
      },
    },
  }),
];
