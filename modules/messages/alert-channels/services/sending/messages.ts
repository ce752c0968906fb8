/** Messages about alerts: taken in within the change that caused them, or taken back. */
import type { Context } from '#core';
import { cutText } from '#core';
import type { ChannelMessage, MessageKind } from '../../models/message.ts';

// Follow-ups only where something was said before.
const INSERT = `
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
returning id`;

/** A channel that is off, or that wants only what is more severe, is passed over. Twice the same is once. */
export async function send(
  ctx: Context,
  channelId: string,
  { orgId, step = 0, sequence = 0, ...message }: ChannelMessage & { orgId: string; step?: number; sequence?: number },
): Promise<void> {
  const { alertId, kind, severity } = message;
  const kept = { ...message, title: cutText(message.title, 500), message: cutText(message.message, 4000) };
  const { rows } = await ctx.sql<{ id: string }>(
    INSERT,
    [orgId, channelId, alertId, kind, step, sequence, severity, JSON.stringify(kept)],
    'alert-channels-send',
  );
  for (const { id: messageId } of rows) ctx.addJob('alert-channels/deliver', { messageId }, { orgId });
}

/** What is being sent at this moment arrives. */
export async function cancel(ctx: Context, alertId: string, kinds?: readonly MessageKind[]): Promise<number> {
  const { rowCount } = await ctx.sql(
    `update alert_notifications set status = 'cancelled', error = 'taken back before it was sent'
     where alert_id = $1 and status = 'pending' and (lease is null or leased_until <= now())
       and ($2::text[] is null or kind = any ($2))`,
    [alertId, kinds ?? null],
  );
  return rowCount ?? 0;
}
