/** Loads the notices of claimed messages. Notices that were read, removed or lie out of reach by now are not sent any more. */
import type { ClaimedMessage, Context, PreparedMessages } from '#core';
import { type Owned, setApart, tenantsWithout } from './digests.ts';
import type { Message, QueuedMessage } from './message.ts';

// A digest is all pending deliveries of its user and time.
// reach: platform role: background sender of queued notices
const LOAD = `
select q.id as "queueId", d.id, n.id as "notificationId", n.type, n.priority, n.title, n.message, n.link,
  n.dedupe_key as "dedupeKey", n.count, n.last_occurred_at as "lastOccurredAt", o.name as organization,
  n.org_id as "orgId", n.partner_id as "partnerId",
  q.digest_at is not null and coalesce(n.org_id, n.partner_id) = any ($2::uuid[]) as paused,
  case when n.id is null then 'removed before it was sent'
       when n.read and n.in_app then 'read before it was sent'
       when u.status <> 'active' then 'the account is not active'
       when not exists (select from notification_reach(n.org_id, n.partner_id, n.site_id, n.device_id) r
         where r.user_id = u.id) then 'out of reach by now' end as why
from notification_queue q join users u on u.id = q.user_id
  cross join lateral (
    select x.id, x.notification_id from notification_deliveries x
    where q.digest_at is null and x.id = q.id and x.status = 'pending'
    union all
    select x.id, x.notification_id from notification_deliveries x
    where q.digest_at is not null and x.user_id = q.user_id and x.due_at = q.digest_at and x.digest and x.status = 'pending') d
  left join user_notifications n on n.id = d.notification_id
  left join organizations o on o.id = n.org_id
where q.id = any ($1) order by notification_rank(n.priority) desc, n.last_occurred_at desc, d.id`;

type Loaded = Owned & { why: string | null; paused: boolean | null };

/** Messages without a notice that is still to be sent are left out. Platform role. */
export async function loadNotices(
  ctx: Context,
  messages: readonly (QueuedMessage & ClaimedMessage)[],
): Promise<PreparedMessages<Message>> {
  const { rows } = await ctx.sql<Loaded & Record<string, unknown>>(
    LOAD,
    [messages.map(({ id }) => id), tenantsWithout(ctx)],
    'notifications-load',
  );
  await suppress(
    ctx,
    rows.filter(({ why }) => why !== null),
  );
  const send = messages.map((message) => ({
    ...message,
    items: rows.filter(({ queueId, why, paused }) => queueId === message.id && why === null && !paused),
  }));
  const paused = rows.filter((row) => row.why === null && row.paused);
  const left = await setApart(ctx, paused, send);
  return {
    send: send.filter(({ id, items }) => items.length > 0 && !left.has(id)),
  };
}

async function suppress(ctx: Context, items: readonly Loaded[]): Promise<void> {
  if (items.length === 0) return;
  await ctx.sql(
    `update notification_deliveries d set status = 'suppressed', error = x.why
     from unnest($1::uuid[], $2::text[]) x (id, why) where d.id = x.id and d.status = 'pending'`,
    [items.map(({ id }) => id), items.map(({ why }) => why)],
  );
}
