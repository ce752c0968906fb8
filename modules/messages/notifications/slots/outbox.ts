/** Every event of every module passes here; those that are notices are told by a job, one for each. */
import { defineFilling, type EventOutbox } from '#core';
import type { NoticeKind } from '../models/notice.ts';

const take: EventOutbox['take'] = (ctx, { id, name, orgId }) => {
  const kinds = ctx.fillings('notifications.notice', orgId ?? undefined) as readonly NoticeKind[];
  if (!kinds.some(({ event }) => event === name)) return null;
  ctx.addJob('notifications/fan-out', { eventId: id }, { orgId });
  return { eventId: id };
};

export default defineFilling({ slot: 'events.outbox', value: { into: 'notification_take', take } });
