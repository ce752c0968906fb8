/** Tells an event to everybody whom it concerns: one statement for five hundred people. */
import { type Context, catalogPairs, type DomainEvent } from '#core';
import {
  type About,
  type EventNotice,
  type Notice,
  type NoticeKind,
  noticesOf,
  type Priority,
} from '../../models/notice.ts';
import { TELL } from './statement.ts';
import { mustBePath, plainText } from './texts.ts';

const BATCH = 500;
const NOBODY_YET = '00000000-0000-0000-0000-000000000000';

/** Once for each event, whatever runs twice: the mark and all that follows from it commit together. Platform role. */
export async function fanOut(ctx: Context, eventId: string): Promise<void> {
  const event = await begin(ctx, eventId);
  if (!event) return;
  const kinds = ctx.fillings('notifications.notice', event.orgId ?? undefined) as readonly NoticeKind[];
  const known = ctx.events(event.orgId ?? undefined).find(({ name }) => name === event.name);
  for (const kind of noticesOf(known?.definition, event.name, kinds)) {
    const settled = kind.settles?.(event.data, event);
    if (settled) await settle(ctx, event, settled);
    if (kind.tell) await tell(ctx, event, kind.tell);
  }
}

async function begin(ctx: Context, eventId: string): Promise<DomainEvent | null> {
  // reach: platform role: one event for all its recipients, whom notification_reach() finds
  const { rows } = await ctx.sql<Omit<DomainEvent, 'occurredAt'> & { occurredAt: Date }>(
    `with mine as (
       update notification_fanouts set done_at = now() where event_id = $1 and done_at is null returning event_id)
     select id, name, org_id as "orgId", site_id as "siteId", device_id as "deviceId", occurred_at as "occurredAt", actor, data
     from events where id in (select event_id from mine)`,
    [eventId],
    'notifications-begin',
  );
  const [row] = rows;
  return row ? { ...row, occurredAt: row.occurredAt.toISOString() } : null;
}

/** What an event has made good again is not mailed or pushed any more; the notices stay. */
async function settle(ctx: Context, { orgId }: DomainEvent, key: string): Promise<void> {
  // reach: platform role: one event for all its recipients, whom notification_reach() finds
  await ctx.sql(
    `update notification_deliveries d set status = 'suppressed', error = 'settled before it was sent'
     from user_notifications n
     where n.dedupe_key = $1 and n.org_id is not distinct from $2 and d.notification_id = n.id
       and d.status = 'pending' and d.lease is null`,
    [key, orgId],
  );
}

interface Subject {
  device: string | null;
  organization: string | null;
  siteId: string | null;
}

/** Today's site of a device that still belongs to the organization, else the one of the event. */
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
  const values = [
    ...[event.id, event.orgId, partnerId, subject.siteId, event.deviceId],
    ['*:*', ...catalogPairs(how.permission, 'GET')],
    event.actor.kind === 'user' ? event.actor.id : null,
    ...[how.type, priority, ...wordsOf(notice)],
  ];
  let after = NOBODY_YET;
  for (;;) {
    const { rows } = await ctx.sql<{ n: number; last: string | null; due: string[] }>(
      TELL,
      [...values, after, BATCH],
      'notifications-tell',
    );
    const [told] = rows;
    for (const deliveryId of told?.due ?? []) {
      ctx.addJob('notifications/deliver', { deliveryId }, { orgId: event.orgId });
    }
    if (!told?.last || told.n < BATCH) return;
    after = told.last;
  }
}

const MOST_METADATA = 8192;
function wordsOf({ title, message, link, metadata = {}, dedupeKey }: Notice): unknown[] {
  const kept = JSON.stringify(metadata);
  return [
    ...[plainText(title, 255), plainText(message, 2000), mustBePath(link)],
    Buffer.byteLength(kept) <= MOST_METADATA ? kept : '{}',
    dedupeKey ? plainText(dedupeKey, 200) : null,
  ];
}
