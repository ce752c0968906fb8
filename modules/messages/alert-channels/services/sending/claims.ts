/** Takes a message for this process, unless its channel is off, has quiet hours, or has been sent enough. Platform role. */
import type { Context } from '#core';
import type { Channel } from '../../models/channel.ts';
import { type ChannelMessage, headingOf, type Outgoing, type Severity } from '../../models/message.ts';
import { quietUntil } from './quiet.ts';
import { digestOf, throttle } from './throttles.ts';

/** Longer than an attempt takes, to fifty recipients of a slow mail server included. */
const LEASE_MINUTES = 15;

export interface Row {
  id: string;
  kind: ChannelMessage['kind'];
  severity: Severity;
  message: ChannelMessage;
  attempts: number;
  reached: string[];
}
export interface Claim {
  channel: Channel;
  message: Outgoing;
  attempts: number;
}

// Messages of a channel are claimed in turns, so that its window is counted right.
const LOCK = `
select n.id, n.kind, n.severity, n.message, n.attempts, n.reached, to_jsonb(c) as channel
from alert_notifications n join alert_channels c on c.id = n.channel_id
where n.id = $1 and n.status = 'pending' and n.next_attempt_at <= now() and (n.lease is null or n.leased_until <= now())
for no key update of n, c`;

/** Null where there is nothing to send now. */
export async function claim(ctx: Context, messageId: string, lease: string): Promise<Claim | null> {
  const { rows } = await ctx.sql<Row & { channel: Record<string, unknown> }>(LOCK, [messageId], 'alert-channels-lock');
  const [row] = rows;
  if (!row) return null;
  const channel = camel(row.channel);
  if (!channel.enabled || channel.health === 'disabled_by_system') {
    await end(ctx, row.id, 'cancelled', 'the channel is off');
    return null;
  }
  const until = quietUntil(channel.quietHours, row.severity, new Date());
  if (until) {
    await ctx.sql('update alert_notifications set next_attempt_at = $2 where id = $1', [row.id, until]);
    return null;
  }
  if (row.kind !== 'digest' && row.attempts === 0 && (await throttle(ctx, channel, row.id))) return null;
  const said = row.kind === 'digest' ? await digestOf(ctx, channel, row.id) : row.message;
  await ctx.sql(
    `update alert_notifications set attempts = attempts + 1, lease = $2, leased_until = now() + make_interval(mins => $3)
     where id = $1`,
    [row.id, lease, LEASE_MINUTES],
  );
  const url = said.link ? ctx.services.config.http.publicUrl + said.link : null;
  return {
    channel,
    attempts: row.attempts + 1,
    message: { ...said, id: row.id, reached: row.reached, url, heading: headingOf(said) },
  };
}

async function end(ctx: Context, id: string, status: string, error: string): Promise<void> {
  await ctx.sql(`update alert_notifications set status = $2, error = $3 where id = $1 and status = 'pending'`, [
    ...[id, status, error],
  ]);
}

/** As the model has it: `to_jsonb` knows only the columns' own names. */
const camel = (row: Record<string, unknown>): Channel =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ) as unknown as Channel;
