/** Takes a delivery for this process, or the whole digest it belongs to, and writes down what came of it. */
import type { Context } from '#core';
import type { NoticeType, Priority } from '../../models/notice.ts';
import { delayAfter, MOST_ATTEMPTS } from './delays.ts';
import type { Outcome } from './outcome.ts';

export interface Item {
  id: string;
  notificationId: string;
  type: NoticeType;
  priority: Priority;
  title: string;
  message: string;
  link: string | null;
  dedupeKey: string | null;
  count: number;
  organization: string | null;
  lastOccurredAt: Date;
}
export interface Claim {
  kind: 'email' | 'push';
  digest: boolean;
  dueAt: Date;
  userId: string;
  email: string;
  attempts: number;
  targets: string[] | null;
  ids: string[];
  items: Item[];
}

/** Longer than an attempt takes. */
const LEASE_MINUTES = 3;

const CLAIM = `
with first as (select id, user_id, due_at, digest from notification_deliveries where id = $1),
chosen as (
  select id from first
  union
  select d.id from first f join notification_deliveries d on d.user_id = f.user_id and d.due_at = f.due_at
  where f.digest and d.digest and d.status = 'pending')
update notification_deliveries d set attempts = d.attempts + 1, lease = $2,
  leased_until = now() + interval '${LEASE_MINUTES} minutes'
where d.id in (select id from chosen) and d.status = 'pending' and d.next_attempt_at <= now()
  and (d.leased_until is null or d.leased_until <= now())
returning d.id, d.user_id as "userId", d.kind, d.digest, d.due_at as "dueAt", d.attempts, d.targets`;

// What has been read, is gone or is out of reach by now is not sent any more.
const LOAD = `
select d.id, n.id as "notificationId", n.type, n.priority, n.title, n.message, n.link, n.dedupe_key as "dedupeKey", n.count,
  n.last_occurred_at as "lastOccurredAt", o.name as organization, u.email,
  case when n.id is null then 'removed before it was sent'
       when n.read and n.in_app then 'read before it was sent'
       when u.status <> 'active' then 'the account is not active'
       when not exists (select from notification_reach(n.org_id, n.partner_id, n.site_id, n.device_id) r
         where r.user_id = u.id) then 'out of reach by now' end as why
from notification_deliveries d join users u on u.id = d.user_id
  left join user_notifications n on n.id = d.notification_id
  left join organizations o on o.id = n.org_id
where d.id = any ($1) order by notification_rank(n.priority) desc, n.last_occurred_at desc, d.id`;

interface Taken extends Record<string, unknown> {
  id: string;
  userId: string;
  kind: 'email' | 'push';
  digest: boolean;
  dueAt: Date;
  attempts: number;
  targets: string[] | null;
}

/** Null where there is nothing to send. Platform role. */
export async function claim(ctx: Context, deliveryId: string, lease: string): Promise<Claim | null> {
  const { rows: taken } = await ctx.sql<Taken>(CLAIM, [deliveryId, lease], 'notifications-claim');
  const [first] = taken;
  if (!first) return null;
  const { rows } = await ctx.sql<Item & { email: string; why: string | null } & Record<string, unknown>>(
    LOAD,
    [taken.map(({ id }) => id)],
    'notifications-load',
  );
  const off = rows.filter(({ why }) => why !== null);
  if (off.length > 0) {
    await ctx.sql(
      `update notification_deliveries d set status = 'suppressed', error = x.why, lease = null, leased_until = null
       from unnest($1::uuid[], $2::text[]) x (id, why) where d.id = x.id and d.status = 'pending' and d.lease = $3`,
      [off.map(({ id }) => id), off.map(({ why }) => why), lease],
    );
  }
  const items = rows.filter(({ why }) => why === null);
  const [item] = items;
  if (!item) return null;
  const { userId, kind, digest, dueAt, targets } = first;
  const attempts = Math.max(...taken.map((one) => one.attempts));
  return { kind, digest, dueAt, userId, targets, attempts, email: item.email, ids: items.map(({ id }) => id), items };
}

/** Compare-and-set on the lease: an attempt that took too long has nothing to say. Platform role. */
export async function write(ctx: Context, { ids, attempts }: Claim, lease: string, outcome: Outcome): Promise<void> {
  const { sent, permanent = false, error, retryAfter = null, providerMessageId = null, targets = null } = outcome;
  const over = permanent || attempts >= MOST_ATTEMPTS;
  const status = sent ? 'sent' : over ? 'failed' : 'pending';
  await ctx.sql(
    `update notification_deliveries set status = $3, lease = null, leased_until = null, error = $4, targets = $5,
       provider_message_id = coalesce($6, provider_message_id), sent_at = case when $3 = 'sent' then now() end,
       next_attempt_at = now() + make_interval(secs => $7)
     where id = any ($1) and lease = $2 and status = 'pending'`,
    [
      ...[ids, lease, status, error?.slice(0, 500) ?? null, targets, providerMessageId?.slice(0, 255) ?? null],
      delayAfter(attempts, retryAfter),
    ],
    'notifications-write',
  );
}
