/** The queue of mails and push messages: what a message is, and what its result changes. core/delivery sends from it. */
import { defineDelivery } from '#core';
import { mailNotices } from './mails.ts';
import type { Details, Message, QueuedMessage } from './message.ts';
import { loadNotices } from './notices-to-send.ts';
import { pushNotice } from './pushes.ts';

/** Days for which deliveries are kept. */
const RETENTION_DAYS = 90;

// A digest stands for all pending deliveries of its user and time.
const STEPS = `,
sent as (
  select h.*, h.id as delivery_id from held h where h.digest_at is null
  union all
  select h.*, d.id from held h join notification_deliveries d
    on d.user_id = h.user_id and d.due_at = h.digest_at and d.digest and d.status = 'pending'
  where h.digest_at is not null)`;
const LAST = `
update notification_deliveries d set attempts = s.attempts + 1, error = left(s.error, 500), targets = s.targets,
  status = case s.status when 'delivered' then 'sent' when 'failed' then 'failed' else 'pending' end,
  provider_message_id = coalesce(left(s."providerMessageId", 255), d.provider_message_id),
  sent_at = case when s.status = 'delivered' then now() end
from sent s where d.id = s.delivery_id and d.status = 'pending' and s.status <> 'released'
returning d.id`;

export const notificationQueue = defineDelivery<QueuedMessage, Details, Message>({
  name: 'notifications',
  table: 'notification_queue',
  // Mail and push are one receiver each. Within each the tenants take turns.
  partition: ['kind', 'tenant_id'],
  limits: { perPartition: 5, perProcess: () => 20, leaseSeconds: 180, pollSeconds: 5 },
  retryDelays: [30, 120, 600, 1800, 7200],
  tenants: ['org_id', 'tenant_id'],
  onExpired: `,
suppressed as (
  update notification_deliveries d set status = 'suppressed', error = 'notifications were switched off for a day'
  from expired x where d.status = 'pending'
    and (d.id = x.id or (d.digest and d.user_id = x.user_id and d.due_at = x.digest_at)))`,
  message: {
    columns: 'q.kind, q.user_id as "userId", q.digest_at as "digestAt", d.targets, u.email',
    from: 'join notification_deliveries d on d.id = q.id join users u on u.id = q.user_id',
  },
  prepare: loadNotices,
  send: ({ asPlatform }, message) =>
    asPlatform((ctx) => (message.kind === 'email' ? mailNotices(ctx, message) : pushNotice(ctx, message))),
  record: {
    fields: 'targets uuid[], "providerMessageId" text',
    carries: ['user_id', 'digest_at'],
    steps: STEPS,
    last: LAST,
  },
  log: { table: 'notification_deliveries', ended: 'true', failed: `status = 'failed'`, retentionDays: RETENTION_DAYS },
});
