/** Makes the notices of an event for all users whom it concerns, in one statement for 500 users. */
import {
  announceDue,
  type Context,
  catalogPairs,
  type DomainEvent,
  EVENT_COLUMNS,
  type EventRow,
  eventOf,
} from '#core';
import type { About, EventNotice, Notice, Priority } from '../../models/notice.ts';
import { TELL } from './statement.ts';
import { mustBePath, plainText } from './texts.ts';

/** Users that one statement tells. */
const BATCH_SIZE = 500;
/** Lies before all ids. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Does nothing when it has run for the event before: the mark commits together with the notices. Platform role. */
export async function fanOut(ctx: Context, eventId: string): Promise<void> {
  const event = await begin(ctx, eventId);
  if (!event) return;
  const known = ctx.events(event.orgId ?? undefined).find(({ name }) => name === event.name);
  const notice = known?.definition.notice;
  const settled = notice?.settles?.(event.data, event);
  if (settled) await settle(ctx, event, settled);
  if (notice?.tell) await tell(ctx, event, notice.tell);
}

async function begin(ctx: Context, eventId: string): Promise<DomainEvent | null> {
  // reach: platform role: one event for all its recipients, whom notification_reach() finds
  const { rows } = await ctx.sql<EventRow>(
    `with mine as (
       update notification_fanouts set done_at = now() where event_id = $1 and done_at is null returning event_id)
     select ${EVENT_COLUMNS} from events where id in (select event_id from mine)`,
    [eventId],
    'notifications-begin',
  );
  const [row] = rows;
  return row ? eventOf(row) : null;
}

// A digest stays in the queue: it may hold other notices.
// reach: platform role: one event for all its recipients, whom notification_reach() finds
const SETTLE = `
with subject as (
  select d.id, d.digest, d.user_id, d.due_at
  from user_notifications n join notification_deliveries d on d.notification_id = n.id and d.status = 'pending'
  where n.dedupe_key = $1 and n.org_id is not distinct from $2),
waiting as (
  select s.id, q.id as queue_id, s.digest
  from subject s join notification_queue q
    on (not s.digest and q.id = s.id) or (s.digest and q.user_id = s.user_id and q.digest_at = s.due_at)
  where q.lease is null for update of q),
removed as (
  delete from notification_queue q using waiting w where q.id = w.queue_id and not w.digest)
update notification_deliveries d set status = 'suppressed', error = 'settled before it was sent'
from waiting w where d.id = w.id and d.status = 'pending'`;

/** An event may settle earlier notices: they are not mailed or pushed any more, and stay in the inbox. */
async function settle(ctx: Context, { orgId }: DomainEvent, key: string): Promise<void> {
  await ctx.sql(SETTLE, [key, orgId], 'notifications-settle');
}

interface Subject {
  device: string | null;
  organization: string | null;
  siteId: string | null;
}

/** The site is the device's present one while it belongs to the organization, else that of the event. */
async function subjectOf(ctx: Context, { orgId, siteId, deviceId }: DomainEvent): Promise<Subject> {
  // reach: platform role: one event for all its recipients, whom notification_reach() finds
  const { rows } = await ctx.sql<Subject>(
    `select coalesce(d.display_name, d.hostname) as device, o.name as organization, coalesce(d.site_id, $2) as "siteId"
     from (select $1::uuid as org_id) x left join organizations o on o.id = x.org_id
       left join devices d on d.id = $3 and d.org_id = x.org_id`,
    [orgId, siteId, deviceId],
    'notifications-subject',
  );
  return rows[0] ?? { device: null, organization: null, siteId };
}

async function tell(ctx: Context, event: DomainEvent, how: NonNullable<EventNotice<unknown>['tell']>): Promise<void> {
  const subject = await subjectOf(ctx, event);
  const about: About = { device: subject.device, organization: subject.organization };
  const notice = how.render(event.data, about, event);
  const partnerId = event.orgId ? null : (notice?.partnerId ?? null);
  if (!notice || (!event.orgId && !partnerId && !how.installation)) return;
  const priority: Priority = typeof how.priority === 'function' ? how.priority(event.data) : how.priority;
  const permission = typeof how.permission === 'function' ? how.permission(event.data) : how.permission;
  const values = [
    ...[event.id, event.orgId, partnerId, subject.siteId, event.deviceId],
    ['*:*', ...catalogPairs(permission, 'GET')],
    event.actor.kind === 'user' ? event.actor.id : null,
    ...[how.type, priority, ...wordsOf(notice)],
  ];
  let after = NO_ID;
  for (;;) {
    const { rows } = await ctx.sql<{ n: number; last: string | null; due: boolean }>(
      TELL,
      [...values, after, BATCH_SIZE, NO_ID, notice.only ?? null],
      'notifications-tell',
    );
    const [batch] = rows;
    if (batch?.due) announceDue(ctx, 'notifications');
    if (!batch?.last || batch.n < BATCH_SIZE) return;
    after = batch.last;
  }
}

const MAX_METADATA_BYTES = 8192;
function wordsOf({ title, message, link, metadata = {}, dedupeKey }: Notice): unknown[] {
  const kept = JSON.stringify(metadata);
  return [
    ...[plainText(title, 255), plainText(message, 2000), mustBePath(link)],
    Buffer.byteLength(kept) <= MAX_METADATA_BYTES ? kept : '{}',
    dedupeKey ? plainText(dedupeKey, 200) : null,
  ];
}
