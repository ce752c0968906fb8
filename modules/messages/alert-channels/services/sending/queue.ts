/** The queue of messages to alert channels: what a message is, and what its result changes. core/delivery sends from it. */
import { defineDelivery } from '#core';
import { admit } from './admission.ts';
import { type ChannelState, concludeFailures } from './failures.ts';
import { type Details, type Message, type QueuedMessage, send } from './sender.ts';

/** Days for which messages are kept. */
const RETENTION_DAYS = 90;

// The log, then the health of each channel.
const STEPS = `,
logged as (
  update alert_notifications n set attempts = h.attempts + 1,
    status = case h.status when 'delivered' then 'sent' when 'failed' then 'failed' else 'pending' end,
    error = case when h.status = 'delivered' then null else left(h.error, 500) end, reached = coalesce(h.reached, n.reached),
    provider_message_id = coalesce(left(h."providerMessageId", 255), n.provider_message_id),
    sent_at = case when h.status = 'delivered' then now() end
  from held h where n.id = h.id and n.status = 'pending' and h.status <> 'released'
  returning n.channel_id, h.status, h.error),
sums as (
  select channel_id, count(*) filter (where status = 'delivered') as sent, count(*) filter (where status = 'failed') as failed,
    max(error) filter (where status <> 'delivered') as error
  from logged group by channel_id)`;
const LAST = `
update alert_channels c set last_delivery_at = now(),
  last_error = case when s.sent > 0 then null else left(s.error, 500) end,
  health = case when s.sent > 0 then 'ok' else 'failing' end,
  consecutive_failures = case when s.sent > 0 then 0 else c.consecutive_failures + s.failed end
from sums s where c.id = s.channel_id and c.health <> 'disabled_by_system'
returning c.id, c.org_id as "orgId", c.partner_id as "partnerId", c.name, c.type, c.last_error as error,
  c.consecutive_failures as "consecutiveFailures"`;

export const alertChannelQueue = defineDelivery<QueuedMessage, Details, Message>({
  name: 'alert-channels',
  table: 'alert_channel_queue',
  partition: ['channel_id'],
  limits: {
    perPartition: 5,
    perProcess: () => 20,
    // Longer than a mail to fifty recipients takes with a slow server.
    leaseSeconds: 900,
    pollSeconds: 5,
  },
  retryDelays: [30, 120, 600, 3600],
  receiver: { table: 'alert_channels', open: 'true' },
  tenants: ['org_id', 'partner_id'],
  onExpired: `,
cancelled as (
  update alert_notifications n set status = 'cancelled', error = 'alert channels were switched off for a day'
  from expired x where n.id = x.id and n.status = 'pending')`,
  message: {
    columns: 'n.kind, n.severity, n.message, n.reached, q.counted, to_jsonb(r) as channel',
    from: 'join alert_notifications n on n.id = q.id',
  },
  prepare: admit,
  send: ({ asPlatform }, message) => asPlatform((ctx) => send(ctx, message)),
  record: { fields: 'reached text[], "providerMessageId" text', steps: STEPS, last: LAST },
  conclude: (ctx, rows) => concludeFailures(ctx, rows as unknown as ChannelState[]),
  log: { table: 'alert_notifications', ended: 'true', failed: `status = 'failed'`, retentionDays: RETENTION_DAYS },
});
