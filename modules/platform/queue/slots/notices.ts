/** Notifications for operators about the queue. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const PRIORITY = { ok: 'low', warn: 'normal', critical: 'high' } as const;

export default defineFilling({
  slot: 'notifications.notice',
  value: {
    event: 'queue.health.changed',
    summary: 'The health of the job queue changed',
    tell: {
      type: 'system',
      priority: ({ level }: Events['queue.health.changed']) => PRIORITY[level],
      permission: 'settings:view',
      installation: true,
      render: ({ rule, subject, level, detail }: Events['queue.health.changed']) => ({
        title: `Job queue: ${rule} of ${subject} is ${level}`,
        message: detail,
        link: '/admin/jobs',
        metadata: { rule, subject, level },
        dedupeKey: `queue:${rule}:${subject}`,
      }),
    },
  },
});
