/** Messages about alerts: queued within the change that causes them, or cancelled. */
import { announceDue, type Context, cutText } from '#core';
import type { ChannelMessage, MessageKind } from '../../models/message.ts';

// That an alert ended or was acknowledged is sent only to channels that received an earlier message about it.
const INSERT = `
with made as (
  insert into alert_notifications (org_id, channel_id, alert_id, kind, step, sequence, severity, message)
  select $1, c.id, $3, $4, $5, $6, $7, $8 from alert_channels c
  where c.id = $2 and c.enabled and c.health <> 'disabled_by_system'
    and (array_position(array['info', 'low', 'medium', 'high', 'critical'], $7::text)
        >= array_position(array['info', 'low', 'medium', 'high', 'critical'], c.min_severity)
      or $4 in ('acknowledged', 'resolved'))
    and ($4 not in ('acknowledged', 'resolved') or exists (
      select from alert_notifications n where n.alert_id = $3 and n.channel_id = c.id and n.status in ('sent', 'throttled')
        and n.kind not in ('acknowledged', 'resolved')))
  on conflict (alert_id, channel_id, kind, step, sequence) do nothing
  returning id, channel_id, org_id)
insert into alert_channel_queue (id, channel_id, org_id) select id, channel_id, org_id from made`;

/** Does nothing for a channel that is disabled or accepts only more severe alerts. The same message is sent once. */
export async function send(
  ctx: Context,
  channelId: string,
  { orgId, step = 0, sequence = 0, ...message }: ChannelMessage & { orgId: string; step?: number; sequence?: number },
): Promise<void> {
  const { alertId, kind, severity } = message;
  const kept = { ...message, title: cutText(message.title, 500), message: cutText(message.message, 4000) };
  const { rowCount } = await ctx.sql(
    INSERT,
    [orgId, channelId, alertId, kind, step, sequence, severity, JSON.stringify(kept)],
    'alert-channels-send',
  );
  if (rowCount) announceDue(ctx, 'alert-channels');
}

/** Returns the number of cancelled messages; messages that are being sent are not cancelled. */
export async function cancel(ctx: Context, alertId: string, kinds?: readonly MessageKind[]): Promise<number> {
  const { rowCount } = await ctx.sql(
    `with removed as (
       delete from alert_channel_queue q using alert_notifications n
       where n.alert_id = $1 and n.status = 'pending' and ($2::text[] is null or n.kind = any ($2)) and q.id = n.id
         and (q.lease is null or q.leased_until <= now())
       returning q.id)
     update alert_notifications n set status = 'cancelled', error = 'taken back before it was sent'
     from removed r where n.id = r.id and n.status = 'pending'`,
    [alertId, kinds ?? null],
  );
  return rowCount ?? 0;
}
