/** What is too much for a channel in a window goes out as one digest when the window ends. Platform role. */
import type { Context } from '#core';
import type { Channel } from '../../models/channel.ts';
import type { ChannelMessage, Severity } from '../../models/message.ts';

/** Titles that a digest names. */
const NAMED = 20;

/** Counts a message, or puts it off to the digest; the channel's row is locked. */
export async function throttle(
  ctx: Context,
  { id, throttleMax, throttleWindowSeconds }: Channel,
  messageId: string,
): Promise<boolean> {
  const { rows } = await ctx.sql<{ n: number; start: Date; over: Date }>(
    `update alert_channels set
       window_count = case when window_started_at > now() - make_interval(secs => $2) then window_count + 1 else 1 end,
       window_started_at = case when window_started_at > now() - make_interval(secs => $2) then window_started_at else now() end
     where id = $1
     returning window_count as n, window_started_at as start, window_started_at + make_interval(secs => $2) as over`,
    [id, throttleWindowSeconds],
    'alert-channels-throttle',
  );
  const [window] = rows;
  if (!window || window.n <= throttleMax) return false;
  const sequence = Math.floor(window.start.getTime() / 1000);
  await ctx.sql(
    `insert into alert_notifications (org_id, partner_id, channel_id, alert_id, kind, sequence, severity, message, next_attempt_at)
     select org_id, partner_id, id, id, 'digest', $2, 'low', '{}', $3 from alert_channels where id = $1
     on conflict (alert_id, channel_id, kind, step, sequence) do nothing`,
    [id, sequence, window.over],
  );
  await ctx.sql(
    `update alert_notifications n set status = 'throttled', digest_id = d.id
     from alert_notifications d
     where n.id = $1 and n.status = 'pending' and d.alert_id = $2 and d.channel_id = $2 and d.kind = 'digest' and d.sequence = $3`,
    [messageId, id, sequence],
  );
  return true;
}

/** As much as is known when it goes out. */
export async function digestOf(ctx: Context, channel: Channel, digestId: string): Promise<ChannelMessage> {
  const { rows } = await ctx.sql<{ title: string; severity: Severity; n: number; worst: Severity }>(
    `select message ->> 'title' as title, severity, (count(*) over ())::integer as n,
       (array['info', 'low', 'medium', 'high', 'critical'])[max(array_position(array['info', 'low', 'medium', 'high', 'critical'], severity)) over ()] as worst
     from alert_notifications where digest_id = $1 order by created_at, id limit ${NAMED}`,
    [digestId],
  );
  const count = rows[0]?.n ?? 0;
  const lines = rows.map(({ severity, title }) => `[${severity.toUpperCase()}] ${title}`);
  if (count > rows.length) lines.push(`and ${count - rows.length} more`);
  return {
    ...{ alertId: channel.id, kind: 'digest', severity: rows[0]?.worst ?? 'low' },
    title: count === 1 ? 'One more alert' : `${count} more alerts`,
    message: lines.join('\n'),
    link: '/alerts',
    at: new Date().toISOString(),
  };
}
