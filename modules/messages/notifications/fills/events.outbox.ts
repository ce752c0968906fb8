/** Adds one job for each event that has a notice. */
import { defineContribution, type EventOutbox } from '#core';
import { type NoticeKind, noticesOf } from '../models/notice.ts';

const take: EventOutbox['take'] = (ctx, { id, name, orgId }, definition) => {
  const kinds = ctx.contributions('notifications.notice', orgId ?? undefined) as readonly NoticeKind[];
  if (noticesOf(definition, name, kinds).length === 0) return null;
  ctx.addJob('notifications/fan-out', { eventId: id }, { orgId });
  return { eventId: id };
};

export default defineContribution('events.outbox', { into: 'notification_take', take });
