/** What came of an attempt: the message's state, and the channel's health. Platform role. */
import type { Context } from '#core';
import { MOST_FAILURES } from '../../models/channel.ts';
import type { Outcome } from '../../models/message.ts';
import type { Claim } from './claims.ts';
import { delayAfter, MOST_ATTEMPTS } from './delays.ts';

/** Compare-and-set on the lease: an attempt that took too long has nothing to say. */
export async function writeResult(
  ctx: Context,
  { channel, message, attempts }: Claim,
  lease: string,
  outcome: Outcome,
): Promise<void> {
  const { success, permanent, answer, retryAfter, providerMessageId, reached } = outcome;
  const status = success ? 'sent' : permanent || attempts >= MOST_ATTEMPTS ? 'failed' : 'pending';
  const { rowCount } = await ctx.sql(
    `update alert_notifications set status = $3, lease = null, leased_until = null, error = $4, reached = $5,
       provider_message_id = coalesce($6, provider_message_id), sent_at = case when $3 = 'sent' then now() end,
       next_attempt_at = now() + make_interval(secs => $7)
     where id = $1 and lease = $2 and status = 'pending'`,
    [
      ...[message.id, lease, status, success ? null : answer, reached, providerMessageId?.slice(0, 255) ?? null],
      delayAfter(attempts, retryAfter),
    ],
    'alert-channels-result',
  );
  if (rowCount === 0) return;
  const { rows } = await ctx.sql<{ failures: number }>(
    `update alert_channels set last_delivery_at = now(),
       last_error = case when $2 = 'sent' then null else $3 end,
       health = case when $2 = 'sent' then 'ok' else 'failing' end,
       consecutive_failures = case $2 when 'sent' then 0 when 'failed' then consecutive_failures + 1 else consecutive_failures end
     where id = $1 and health <> 'disabled_by_system' returning consecutive_failures as failures`,
    [channel.id, status, answer],
    'alert-channels-health',
  );
  if ((rows[0]?.failures ?? 0) >= MOST_FAILURES) await disable(ctx, channel, answer, rows[0]?.failures ?? 0);
}

/** Once: whoever comes later finds it disabled. */
async function disable(
  ctx: Context,
  channel: Claim['channel'],
  error: string,
  consecutiveFailures: number,
): Promise<void> {
  const { id, orgId, partnerId, name, type } = channel;
  const { rowCount } = await ctx.sql(
    `update alert_channels set health = 'disabled_by_system' where id = $1 and health <> 'disabled_by_system'`,
    [id],
  );
  if (rowCount === 0) return;
  const owner = partnerId ? { orgId, partnerId } : { orgId };
  ctx.audit('notification_channel.disable', {
    ...owner,
    ...{ resourceType: 'alert_channel', resourceId: id, resourceName: name, details: { consecutiveFailures, error } },
  });
  ctx.emit('alert-channels.disabled', { channelId: id, partnerId, name, type, error, consecutiveFailures }, { orgId });
}
