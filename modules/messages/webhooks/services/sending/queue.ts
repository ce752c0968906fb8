/** The queue of webhook deliveries: what a message is, and what its result changes. core/delivery sends from it. */
import { defineDelivery } from '#core';
import { variables } from '../../variables.ts';
import { concludeFailures, type WebhookState } from '../failures.ts';
import { type Details, type Message, send } from './sender.ts';

/** Days for which deliveries are kept. */
export const RETENTION_DAYS = 30;

// The log, the webhook's counts of the hour, and the webhook itself (`b`: as it was before).
// reach: platform role: the queue sends for all organizations
const STEPS = `,
logged as (
  update webhook_deliveries d set status = h.status, attempts = h.attempts + 1,
    next_retry_at = now() + make_interval(secs => h.seconds), response_status = h."responseStatus",
    response_body = h."responseBody", response_time_ms = h."responseTimeMs", error_message = h.error,
    error_code = h."errorCode", delivered_at = case when h.status = 'delivered' then now() end
  from held h where d.id = h.id and h.status <> 'released' and d.status in ('pending', 'retrying')
  returning d.webhook_id, h.status, h.test, h.gone),
sums as (
  select webhook_id, count(*) filter (where status = 'delivered') as good,
    count(*) filter (where status = 'failed' and not test) as bad,
    bool_or(status <> 'delivered' and not test) as missed, bool_or(status = 'delivered' and test) as "testDelivered",
    bool_or(gone and not test) as gone
  from logged group by webhook_id),
counted as (
  insert into webhook_counts as c (webhook_id, hour, org_id, partner_id, delivered, failed)
  select s.webhook_id, date_trunc('hour', now()), w.org_id, w.partner_id, s.good, s.bad
  from sums s join webhooks w on w.id = s.webhook_id where s.good + s.bad > 0
  on conflict (webhook_id, hour) do update set delivered = c.delivered + excluded.delivered, failed = c.failed + excluded.failed)`;
const LAST = `
update webhooks w set last_delivery_at = now(),
  last_success_at = case when s.good > 0 then now() else w.last_success_at end,
  success_count = w.success_count + s.good, failure_count = w.failure_count + s.bad,
  consecutive_failures = case when s.good > 0 then 0 else w.consecutive_failures + s.bad end,
  noticed = case when s.good > 0 then 0 else w.noticed end,
  first_failure_at = case when s.good > 0 then null when s.missed then coalesce(w.first_failure_at, now()) else w.first_failure_at end
from sums s join webhooks b on b.id = s.webhook_id where w.id = s.webhook_id and w.deleted_at is null
returning w.id, w.org_id as "orgId", w.partner_id as "partnerId", w.name, w.status, w.noticed,
  w.consecutive_failures as "consecutiveFailures", w.first_failure_at as "firstFailureAt", s."testDelivered", s.gone,
  s.good > 0 and b.first_failure_at is not null as recovered`;

export const webhookQueue = defineDelivery<Message, Details>({
  name: 'webhooks',
  table: 'webhook_queue',
  partition: ['webhook_id'],
  limits: { perPartition: 5, perProcess: (config) => variables.of(config).WEBHOOK_CONCURRENCY, leaseSeconds: 25 },
  // Ten attempts in about three days.
  retryDelays: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
  receiver: { table: 'webhooks', open: 'r.deleted_at is null', host: 'r.host' },
  tenants: ['org_id', 'partner_id'],
  // reach: platform role: the queue sends for all organizations
  onExpired: `,
cancelled as (
  update webhook_deliveries d set status = 'failed', error_code = 'cancelled', next_retry_at = null,
    error_message = 'Webhooks were switched off for a day'
  from expired x where d.id = x.id and d.status in ('pending', 'retrying'))`,
  ready: `r.status = 'active' or q.test`,
  message: {
    // reach: platform role: the queue sends for all organizations
    columns: `q.webhook_id as "webhookId", d.message_id as "messageId", d.payload::text as body,
      d.max_attempts as "maxAttempts", r.url, r.headers, r.secrets`,
    from: 'join webhook_deliveries d on d.id = q.id',
  },
  send: ({ services }, message, signal) => send(services, message, signal),
  record: {
    fields: `"responseStatus" integer, "responseBody" text, "responseTimeMs" integer, "errorCode" text, gone boolean`,
    carries: ['test'],
    steps: STEPS,
    last: LAST,
  },
  conclude: (ctx, rows) => concludeFailures(ctx, rows as unknown as WebhookState[]),
  log: {
    table: 'webhook_deliveries',
    ended: `status in ('delivered', 'failed')`,
    failed: `status = 'failed'`,
    retentionDays: RETENTION_DAYS,
  },
});
