/** Takes due deliveries for this process, a few of each webhook: a lease that ends by itself if the process dies. */
import { randomUUID } from 'node:crypto';
import type { Context, Room } from '#core';
import type { Header, Secret } from '../../models/webhook.ts';

/** Deliveries of one webhook that are under way at a time, over all processes. */
export const PER_WEBHOOK = 5;
/** Longer than an attempt takes and its result waits to be written. */
const LEASE_SECONDS = 25;

export interface Claim {
  id: string;
  lease: string;
  webhookId: string;
  messageId: string;
  body: string;
  attempts: number;
  maxAttempts: number;
  test: boolean;
  url: string;
  host: string;
  headers: Header[];
  secrets: Secret[];
  /** Connections to the host failed before. */
  hostFails: boolean;
}

// Walks from webhook to webhook along the index and looks at five rows of each, however long its queue is. First comes who
// has least under way. Claims of all processes take turns, so that the five of a webhook are counted right.
const CLAIM = `
with recursive lane as (
  (select webhook_id from webhook_queue order by webhook_id limit 1)
  union all
  select (select q.webhook_id from webhook_queue q where q.webhook_id > lane.webhook_id order by q.webhook_id limit 1)
  from lane where lane.webhook_id is not null),
open as (
  select w.id, w.url, w.host, w.headers, w.secrets, w.status, h.host is not null as fails, leased.n
  from lane
    join webhooks w on w.id = lane.webhook_id and w.deleted_at is null
    left join webhook_hosts h on h.host = w.host
    cross join lateral (select count(*) as n from webhook_queue q
      where q.webhook_id = w.id and q.leased_until > now()) leased
  where leased.n < ${PER_WEBHOOK} and (h.paused_until is null or h.paused_until <= now())),
due as (
  select open.*, q.delivery_id, q.test, q.due_at, open.id = any($3::uuid[]) as quick,
    open.n + row_number() over (partition by open.id order by q.due_at) as turn
  from open cross join lateral (
    select q.delivery_id, q.test, q.due_at from webhook_queue q
    where q.webhook_id = open.id and q.due_at <= now() and (open.status = 'active' or q.test)
    order by q.due_at limit ${PER_WEBHOOK} - open.n for update skip locked) q),
ranked as (
  select due.*, row_number() over (partition by quick order by turn, due_at) as place from due),
chosen as (
  select * from ranked where quick or place <= $2 order by turn, due_at limit $1),
leased as (
  update webhook_queue q
  set lease = $4, leased_until = now() + interval '${LEASE_SECONDS} seconds', due_at = now() + interval '${LEASE_SECONDS} seconds'
  from chosen c where q.delivery_id = c.delivery_id)
select c.delivery_id as id, $4::text as lease, c.id as "webhookId", d.message_id as "messageId", d.payload::text as body,
  d.attempts, d.max_attempts as "maxAttempts", c.test, c.url, c.host, c.headers, c.secrets, c.fails as "hostFails"
from chosen c join webhook_deliveries d on d.id = c.delivery_id`;

/** Platform role; the dispatcher's processes take turns. */
export async function claim(ctx: Context, { free, othersFree, quick }: Room): Promise<Claim[]> {
  const values = [free, Math.max(0, othersFree), quick, randomUUID()];
  const { rows } = await ctx.sql<Claim & Record<string, unknown>>(CLAIM, values, 'webhooks-claim');
  return rows;
}
