/** The channel types of this installation, those of module packages included. */
import type { Context } from '#core';
import { UnknownType } from '../../errors.ts';
import type { ChannelAdapter } from '../../models/adapter.ts';

const all = (ctx: Context, orgId?: string | null) =>
  ctx.contributions('alerts.channel', orgId ?? undefined) as readonly ChannelAdapter[];

/** Undefined where the module that offers the type is removed, or disabled for the organization. */
export const adapterOf = (ctx: Context, type: string, orgId?: string | null): ChannelAdapter | undefined =>
  all(ctx, orgId).find((adapter) => adapter.type === type);

/** Throws UNKNOWN_CHANNEL_TYPE. */
export function mustKnow(ctx: Context, type: string): ChannelAdapter {
  const adapter = adapterOf(ctx, type);
  if (adapter) return adapter;
  const allowed = all(ctx).map((one) => one.type);
  throw UnknownType({ details: [{ in: 'payload', path: 'type', allowed }] });
}
