/** The throttle of a channel: messages beyond its limit in a window go out as one digest when the window ends. Platform role. */
import type { ClaimedMessage, Context } from '#core';
import type { Channel } from '../../models/channel.ts';
import type { ChannelMessage, Severity } from '../../models/message.ts';

/** Titles that a digest names. */
const MAX_TITLES = 20;

// $1 and $2 channels and how many messages of each, $3 the messages.
const COUNT = `
with counted as (
  update alert_channel_queue set counted = true where id = any ($3::uuid[]))
update alert_channels c set
  window_count = case when c.window_started_at > now() - make_interval(secs => c.throttle_window_seconds)
    then c.window_count else 0 end + x.n,
  window_started_at = case when c.window_started_at > now() - make_interval(secs => c.throttle_window_seconds)
    then c.window_started_at else now() end
from unnest($1::uuid[], $2::int[]) x (id, n) where c.id = x.id
returning c.id, greatest(c.throttle_max - (c.window_count - x.n), 0) as room,
  extract(epoch from c.window_started_at)::bigint as sequence,
  c.window_started_at + make_interval(secs => c.throttle_window_seconds) as "endsAt"`;

// $1, $2 and $3 channels, their windows and when these end, $4 and $5 messages and their channels.
const DIGEST = `
with windows as (
  select * from unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) x (channel_id, sequence, ends_at)),
digest as (
  insert into alert_notifications (org_id, partner_id, channel_id, alert_id, kind, sequence, severity, message)
  select c.org_id, c.partner_id, c.id, c.id, 'digest', w.sequence, 'low', '{}'
  from windows w join alert_channels c on c.id = w.channel_id
  on conflict (alert_id, channel_id, kind, step, sequence) do update set kind = excluded.kind
  returning id, channel_id, org_id, partner_id, status),
queued as (
  insert into alert_channel_queue (id, channel_id, org_id, partner_id, due_at)
  select d.id, d.channel_id, d.org_id, d.partner_id, w.ends_at
  from digest d join windows w using (channel_id) where d.status = 'pending'
  on conflict (id) do nothing)
update alert_notifications n set status = 'throttled', digest_id = d.id
from unnest($4::uuid[], $5::uuid[]) t (id, channel_id) join digest d using (channel_id)
where n.id = t.id and n.status = 'pending'`;

interface ChannelWindow {
  id: string;
  /** Messages of this claim that the window still has room for. */
  room: number;
  sequence: number;
  endsAt: Date;
}

/** Counts the messages. Returns the ids of those that go into a digest instead. */
export async function throttle(ctx: Context, messages: readonly ClaimedMessage[]): Promise<ReadonlySet<string>> {
  if (messages.length === 0) return new Set();
  const byChannel = Map.groupBy(messages, ({ receiver }) => receiver);
  const { rows: windows } = await ctx.sql<ChannelWindow & Record<string, unknown>>(
    COUNT,
    [[...byChannel.keys()], [...byChannel.values()].map(({ length }) => length), messages.map(({ id }) => id)],
    'alert-channels-throttle',
  );
  const beyond = windows.flatMap(({ id, room }) => (byChannel.get(id) ?? []).slice(room));
  if (beyond.length === 0) return new Set();
  const full = windows.filter(({ id }) => beyond.some(({ receiver }) => receiver === id));
  await ctx.sql(DIGEST, [
    full.map(({ id }) => id),
    full.map(({ sequence }) => sequence),
    full.map(({ endsAt }) => endsAt),
    beyond.map(({ id }) => id),
    beyond.map(({ receiver }) => receiver),
  ]);
  return new Set(beyond.map(({ id }) => id));
}

/** Names what was throttled until now. */
export async function digestOf(ctx: Context, channel: Channel, digestId: string): Promise<ChannelMessage> {
  const { rows } = await ctx.sql<{ title: string; severity: Severity; n: number; worst: Severity }>(
    `select message ->> 'title' as title, severity, (count(*) over ())::integer as n,
       (array['info', 'low', 'medium', 'high', 'critical'])[max(array_position(array['info', 'low', 'medium', 'high', 'critical'], severity)) over ()] as worst
     from alert_notifications where digest_id = $1 order by created_at, id limit ${MAX_TITLES}`,
    [digestId],
  );
  const count = rows[0]?.n ?? 0;
  const lines = rows.map(({ severity, title }) => `[${severity.toUpperCase()}] ${title}`);
  if (count > rows.length) lines.push(`and ${count - rows.length} more`);
  return {
    alertId: channel.id,
    kind: 'digest',
    severity: rows[0]?.worst ?? 'low',
    title: count === 1 ? 'One more alert' : `${count} more alerts`,
    message: lines.join('\n'),
    link: '/alerts',
    at: new Date().toISOString(),
  };
}
