/** Channels: listing, reading, creating, changing and removing them. */
import { randomUUID } from 'node:crypto';
import { type Context, changesOf, errors, mustAccessOrg, mustWriteFor, ownerOf, page, type SortKey } from '#core';
import type { ChannelUsage } from '../models/adapter.ts';
import { Channel, type ChannelCreate, type ChannelQuery, type ChannelUpdate } from '../models/channel.ts';
import { adapterOf, mustKnow } from './adapters/adapters.ts';
import { merged, mustBeCallable, mustFit, opened, sealed } from './configs.ts';

const ORDER = {
  name: 'alert-channels',
  keys: [
    { expression: 'lower(alert_channels.name)', direction: 'asc', type: 'text' },
    { expression: 'alert_channels.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** Organizations see the channels of their partner, with secrets masked. */
function visible(ctx: Context) {
  const query = Channel.in(ctx);
  if (ctx.scope.kind === 'system') return query;
  return query.where((either) => {
    either.whereNotNull('alert_channels.orgId');
    if (ctx.scope.ownerPartnerId) either.orWhere('alert_channels.partnerId', ctx.scope.ownerPartnerId);
  });
}

export function show(ctx: Context, channel: Channel) {
  const { secrets: _secrets, windowStartedAt: _started, windowCount: _count, ...shown } = channel;
  const { type, orgId, secrets } = channel;
  const adapter = adapterOf(ctx, type, orgId);
  const warning = adapter?.warning?.(opened(ctx, { ...channel, secrets })) ?? null;
  return { ...shown, warning };
}

export function listChannels(ctx: Context, { orgId, type, health, ...query }: ChannelQuery) {
  const found = visible(ctx);
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    found.where('alert_channels.orgId', orgId);
  }
  if (type) found.where('alert_channels.type', type);
  if (health) found.where('alert_channels.health', health);
  return page(found, query, ORDER, (channel) => show(ctx, channel));
}

/** Throws 404. */
export async function mustSee(ctx: Context, id: string): Promise<Channel> {
  const channel = await visible(ctx).findById(id);
  if (!channel) throw errors.NotFound('Channel not found');
  return channel;
}

async function mustLock(ctx: Context, id: string): Promise<Channel> {
  mustWriteFor(ctx, await mustSee(ctx, id));
  const channel = await visible(ctx).findById(id).forNoKeyUpdate();
  if (!channel) throw errors.NotFound('Channel not found');
  return channel;
}

export const readChannel = async (ctx: Context, id: string) => ({ data: show(ctx, await mustSee(ctx, id)) });

/** Throws UNKNOWN_CHANNEL_TYPE, URL_BLOCKED, 400 for an invalid configuration. Returns generated secrets once. */
export async function createChannel(ctx: Context, { config: given, ...input }: ChannelCreate) {
  const owner = ownerOf(ctx, input);
  const adapter = mustKnow(ctx, input.type);
  const made = adapter.made?.(given) ?? {};
  const config = mustFit(adapter, { ...given, ...made });
  await adapter.check?.(ctx, config, owner);
  await mustBeCallable(ctx, config);
  const id = randomUUID();
  const channel = await Channel.query(ctx.trx)
    .insert({ ...input, ...owner, id, ...sealed(ctx, id, adapter, config), createdBy: ctx.actor.id })
    .returning('*');
  audit(ctx, 'notification_channel.create', channel, { type: channel.type });
  return { data: { ...show(ctx, channel), ...(Object.keys(made).length > 0 ? { made } : {}) } };
}

/** Throws NO_UPDATES, URL_BLOCKED, CREDENTIALS_REQUIRED. */
export async function updateChannel(ctx: Context, id: string, { config: given, ...update }: ChannelUpdate) {
  if (!given && Object.keys(update).length === 0) throw errors.NoUpdates();
  if (given) await mustBeCallable(ctx, given);
  const before = await mustLock(ctx, id);
  const adapter = mustKnow(ctx, before.type);
  const wanted = given ? mustFit(adapter, merged(adapter, opened(ctx, before), given)) : null;
  if (wanted) await adapter.check?.(ctx, wanted, before);
  const config = wanted ? sealed(ctx, id, adapter, wanted) : {};
  // Enabling a channel resets its health: the caller has fixed the cause.
  const fresh = update.enabled || given ? { health: 'ok' as const, consecutiveFailures: 0, lastError: null } : {};
  const after = await Channel.query(ctx.trx)
    .findById(id)
    .patch({ ...update, ...config, ...fresh, updatedAt: new Date() })
    .returning('*');
  const channel = after as unknown as Channel;
  const changed = changesOf(
    show(ctx, before),
    show(ctx, channel),
    Object.keys({ ...update, ...(given ? { config } : {}) }),
  );
  audit(ctx, 'notification_channel.update', channel, { ...changed });
  return { data: show(ctx, channel) };
}

/** Throws IN_USE with the objects that use it. Waiting messages are removed with it. */
export async function deleteChannel(ctx: Context, id: string) {
  const channel = await mustLock(ctx, id);
  const usage: Record<string, number> = {};
  for (const contribution of ctx.contributions('alert-channels.usage') as readonly ChannelUsage[]) {
    Object.assign(usage, await contribution.of(ctx, id));
  }
  if (Object.values(usage).some((count) => count > 0))
    throw errors.InUse({ message: 'The channel is in use', details: [usage] });
  await visible(ctx).findById(id).delete();
  audit(ctx, 'notification_channel.delete', channel, { type: channel.type });
  return { success: true };
}

export function audit(ctx: Context, action: string, channel: Channel, details: Record<string, unknown>): void {
  const { orgId, partnerId, id, name } = channel;
  const owner = partnerId ? { orgId, partnerId } : { orgId };
  ctx.audit(action, { ...owner, resourceType: 'alert_channel', resourceId: id, resourceName: name, details });
}

/** Channels of these organizations that send through this plugin; at most 100. */
export const channelsOfPlugin = async (ctx: Context, orgIds: readonly string[], slug: string): Promise<Channel[]> =>
  Channel.in(ctx)
    .where({ type: 'plugin' })
    .whereIn('orgId', [...orgIds])
    .whereRaw(`alert_channels.config ->> 'plugin' = ?`, [slug])
    .orderByRaw('lower(alert_channels.name), alert_channels.id')
    .limit(100);
