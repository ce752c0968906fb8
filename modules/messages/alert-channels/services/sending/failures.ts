/** Disables channels whose messages fail repeatedly. Platform role. */
import type { Context } from '#core';
import disabled from '../../events/disabled.ts';
import { MAX_FAILURES } from '../../models/channel.ts';

/** A channel after the results of some messages were stored. */
export interface ChannelState {
  id: string;
  orgId: string | null;
  partnerId: string | null;
  name: string;
  type: string;
  error: string | null;
  consecutiveFailures: number;
}

export async function concludeFailures(ctx: Context, states: readonly ChannelState[]): Promise<void> {
  for (const state of states) if (state.consecutiveFailures >= MAX_FAILURES) await disable(ctx, state);
}

/** Once: compare-and-set on the health. */
async function disable(ctx: Context, state: ChannelState): Promise<void> {
  const { id, orgId, partnerId, name, type, consecutiveFailures } = state;
  const error = state.error ?? '';
  const { rowCount } = await ctx.sql(
    `update alert_channels set health = 'disabled_by_system' where id = $1 and health <> 'disabled_by_system'`,
    [id],
  );
  if (rowCount === 0) return;
  const owner = partnerId ? { orgId, partnerId } : { orgId };
  ctx.audit('notification_channel.disable', {
    ...owner,
    resourceType: 'alert_channel',
    resourceId: id,
    resourceName: name,
    details: { consecutiveFailures, error },
  });
  ctx.emit(disabled, { channelId: id, partnerId, name, type, error, consecutiveFailures }, { orgId });
}
