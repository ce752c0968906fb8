/** The log of deliveries; sending a test, a failed message, or all messages of a period again. */
import { randomUUID } from 'node:crypto';
import { announceDue, type Context, errors, type PageQuery, page, type SortKey } from '#core';
import { NotFailed } from '../errors.ts';
import { Delivery, type DeliveryStatus, type ShownStatus } from '../models/delivery.ts';
import type { Webhook } from '../models/webhook.ts';
import { hurryDelivery, hurryPeriod } from './early-attempts.ts';
import { mustKnow } from './kinds.ts';
import { bodyOf } from './outbox/messages.ts';
import { mustLock, mustSee } from './reach.ts';
import { audit } from './webhooks.ts';

/** Messages that one replay sends. */
const MAX_REPLAYED = 1000;
const ORDER = {
  name: 'webhook-deliveries',
  keys: [
    { expression: 'webhook_deliveries.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'webhook_deliveries.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

export interface DeliveryQuery extends PageQuery {
  status?: ShownStatus;
  eventType?: string;
  from?: Date;
  to?: Date;
}

const WAITING: readonly DeliveryStatus[] = ['pending', 'retrying'];

export function show(ctx: Context, { partnerId, ...delivery }: Delivery) {
  const { orgId } = delivery;
  const paused =
    WAITING.includes(delivery.status) && ctx.services.modules.off('webhooks', { orgId, partnerId }) !== null;
  return paused ? { ...delivery, status: 'paused', nextRetryAt: null } : delivery;
}

/** Newest first. Users limited to sites or groups see what was sent about those. */
export async function listDeliveries(ctx: Context, webhookId: string, query: DeliveryQuery) {
  await mustSee(ctx, webhookId);
  const { status, eventType, from, to } = query;
  const found = Delivery.in(ctx).where('webhook_deliveries.webhookId', webhookId);
  if (status) inState(ctx, found, status);
  if (eventType) found.where('webhook_deliveries.eventType', eventType);
  if (from) found.where('webhook_deliveries.createdAt', '>=', from);
  if (to) found.where('webhook_deliveries.createdAt', '<', to);
  return page(found, query, ORDER, (delivery) => show(ctx, delivery));
}

function inState(ctx: Context, found: ReturnType<typeof Delivery.in<Delivery>>, status: ShownStatus): void {
  found.whereIn('webhook_deliveries.status', status === 'paused' ? WAITING : [status]);
  if (status !== 'paused' && !WAITING.includes(status)) return;
  const { modules } = ctx.services;
  const off = `coalesce(webhook_deliveries.org_id = any (?) or webhook_deliveries.partner_id = any (?), false)`;
  const without = [modules.orgsWithout('webhooks'), modules.partnersWithout('webhooks')];
  found.whereRaw(status === 'paused' ? off : `not ${off}`, without as string[][]);
}

/** Queues a test. It is sent once, in any state of the webhook. Throws UNKNOWN_EVENT. */
export async function addTest(ctx: Context, webhookId: string, event: string): Promise<string> {
  mustKnow(ctx, [event], 'event');
  const webhook = await mustLock(ctx, webhookId);
  const { orgId, partnerId } = webhook;
  const eventId = randomUUID();
  const id = randomUUID();
  const data = { test: true, webhookId, name: webhook.name };
  const body = bodyOf({
    ...{ id: eventId, type: event, timestamp: new Date().toISOString(), orgId, data },
    // It follows from nothing but the request of who tests.
    ...{ correlationId: eventId, causationId: null, depth: 0 },
  });
  // reach: mustLock above refuses people limited to sites or groups
  await ctx.sql(
    `with made as (
       insert into webhook_deliveries (id, webhook_id, org_id, partner_id, event_id, event_type, message_id, payload, trigger, max_attempts)
       values ($1, $2, $3, $4, $5, $6, 'msg_' || $1::uuid, $7::json, 'test', 1))
     insert into webhook_queue (id, webhook_id, org_id, partner_id, test) values ($1, $2, $3, $4, true)`,
    [id, webhookId, orgId, partnerId, eventId, event, body],
  );
  audit(ctx, 'webhook.test', webhook, { deliveryId: id, event });
  announceDue(ctx, 'webhooks');
  return id;
}

// A message is sent again by a new delivery with the same message id and text. Leaves out messages with a delivery under way,
// and failed ones that another delivery has delivered since. $1 webhook, $2 statuses.
// reach: mustLock above refuses people limited to sites or groups
const REPEAT = (which: string) => `
with due as materialized (
  select gen_random_uuid() as new_id, d.* from webhook_deliveries d
  where d.webhook_id = $1 and d.trigger <> 'test' and d.status = any($2) and ${which} and not exists (
    select from webhook_deliveries o
    where (o.id = substr(d.message_id, 5)::uuid or (o.message_id = d.message_id and o.trigger = 'manual_retry'))
      and (o.status in ('pending', 'retrying') or (d.status = 'failed' and o.status = 'delivered')))
  order by d.created_at, d.id limit ${MAX_REPLAYED}),
made as (
  insert into webhook_deliveries
    (id, webhook_id, org_id, site_id, device_id, event_id, event_type, message_id, payload, trigger, retry_of_id)
  select new_id, webhook_id, org_id, site_id, device_id, event_id, event_type, message_id, payload, 'manual_retry', id
  from due),
queued as (
  insert into webhook_queue (id, webhook_id, org_id) select new_id, webhook_id, org_id from due)
select new_id as id, created_at from due order by created_at`;

/**
 * A delivery that waits for a later attempt is sent at once. Throws NOT_FAILED for one that arrived, INVALID_STATE unless the
 * webhook is active, and ALREADY_PENDING while the message is under way.
 */
export async function retryDelivery(ctx: Context, webhookId: string, deliveryId: string) {
  const webhook = await mustLock(ctx, webhookId);
  const delivery = await Delivery.in(ctx).findById(deliveryId).where({ webhookId });
  if (!delivery) throw errors.NotFound('Delivery not found');
  if (delivery.status === 'delivered') throw NotFailed({ details: [{ current: delivery.status }] });
  mustSend(webhook);
  if (WAITING.includes(delivery.status)) return retryNow(ctx, webhook, deliveryId);
  const { rows } = await ctx.sql<{ id: string }>(REPEAT('d.id = $3'), [webhookId, ['failed'], deliveryId]);
  const [made] = rows;
  if (!made) throw errors.AlreadyPending('The message is under way, or has arrived since');
  audit(ctx, 'webhook.retry', webhook, { deliveryId: made.id, retryOfId: deliveryId });
  announceDue(ctx, 'webhooks');
  return { deliveryId: made.id };
}

/** A delivery that waits needs no other one. */
async function retryNow(ctx: Context, webhook: Webhook, deliveryId: string) {
  if (!(await hurryDelivery(ctx, webhook, deliveryId))) throw errors.AlreadyPending('The message is being sent');
  audit(ctx, 'webhook.retry', webhook, { deliveryId, retryOfId: deliveryId });
  return { deliveryId };
}

export interface Period {
  from: Date;
  to: Date;
  status: 'failed' | 'delivered' | 'all';
}

/**
 * Sends the messages of a period again, the oldest 1,000, and at once what waits for a later attempt; where there may be more, `next` is the `from` of the next call.
 * Throws INVALID_STATE unless the webhook is active.
 */
export async function replayDeliveries(ctx: Context, webhookId: string, { from, to, status }: Period) {
  if (from >= to) {
    const message = 'from lies before to';
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'from', message }] });
  }
  const webhook = await mustLock(ctx, webhookId);
  mustSend(webhook);
  const hurried = status === 'delivered' ? 0 : await hurryPeriod(ctx, webhook, from, to);
  const statuses = status === 'all' ? ['failed', 'delivered'] : [status];
  const { rows } = await ctx.sql<{ id: string; created_at: Date }>(
    REPEAT(`d.created_at >= $3 and d.created_at < $4 and d.trigger = 'event'`),
    [webhookId, statuses, from, to],
  );
  if (rows.length > 0) announceDue(ctx, 'webhooks');
  const queued = rows.length + hurried;
  audit(ctx, 'webhook.replay', webhook, { from: from.toISOString(), to: to.toISOString(), status, queued });
  const next = rows.length === MAX_REPLAYED ? (rows.at(-1)?.created_at ?? null) : null;
  return { queued, next };
}

function mustSend({ status }: Webhook): void {
  if (status !== 'active') throw errors.InvalidState({ details: [{ current: status, allowed: ['active'] }] });
}
