/** Adds one job for each event that has a notice. */
import { defineContribution, type EventOutbox } from '#core';

const take: EventOutbox['take'] = (ctx, { id, orgId }, definition) => {
  if (!definition?.notice) return null;
  ctx.addJob('notifications/fan-out', { eventId: id }, { orgId });
  return { eventId: id };
};

export default defineContribution('events.outbox', { into: 'notification_take', take });
