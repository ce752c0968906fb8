/** The caller's own browsers that take push messages. */
import { randomUUID } from 'node:crypto';
import { type Context, errors, type PageQuery, page, type SortKey, UrlBlockedError } from '#core';
import { sha256Hex } from '#core/auth';
import { SubscriptionLimit } from '../../errors.ts';
import { type NewSubscription, PushSubscription, showSubscription } from '../../models/push-subscription.ts';

const MAX_SUBSCRIPTIONS = 20;
const ORDER = {
  name: 'push-subscriptions',
  keys: [
    { expression: 'push_subscriptions.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'push_subscriptions.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};
export interface Target {
  id: string;
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

const place = (row: string) => ({ table: 'push_subscriptions', column: 'sealed', row });
const own = (ctx: Context) => PushSubscription.in(ctx).where('userId', ctx.actor.id);

export function openSubscription(ctx: Context, { id, sealed }: { id: string; sealed: string }): Target {
  return { id, ...(JSON.parse(ctx.services.seal.open(sealed, place(id))) as Omit<Target, 'id'>) };
}

export const listSubscriptions = (ctx: Context, query: PageQuery) => page(own(ctx), query, ORDER, showSubscription);

/** A browser that is known already has its subscription renewed. Throws URL_BLOCKED, PUSH_SUBSCRIPTION_LIMIT_REACHED. */
export async function subscribe(ctx: Context, { endpoint, keys, userAgent }: NewSubscription) {
  // Before the first query: it asks the name server.
  await mustBeCallable(ctx, endpoint);
  const endpointHash = sha256Hex(endpoint);
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`push:${endpointHash}`]);
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`push:${ctx.actor.id}`]);
  await PushSubscription.in(ctx).where({ endpointHash }).delete();
  if ((await own(ctx).resultSize()) >= MAX_SUBSCRIPTIONS) throw SubscriptionLimit();
  const id = randomUUID();
  const sealed = ctx.services.seal.seal(JSON.stringify({ endpoint, keys }), place(id));
  const { host } = new URL(endpoint);
  const row = { id, userId: ctx.actor.id ?? '', endpointHash, sealed, host, userAgent: userAgent ?? null };
  const made = await PushSubscription.query(ctx.trx).insert(row).returning('*');
  ctx.audit('notification.push.subscribe', { resourceType: 'push_subscription', resourceId: id, details: { host } });
  return { data: showSubscription(made) };
}

async function mustBeCallable(ctx: Context, url: string): Promise<void> {
  try {
    await ctx.services.http.check(url);
  } catch (error) {
    if (!(error instanceof UrlBlockedError)) throw error;
    throw errors.UrlBlocked({
      message: error.message,
      details: [{ in: 'payload', path: 'endpoint', message: error.message }],
    });
  }
}

/** Throws 404, also for what belongs to another user. */
export async function unsubscribe(ctx: Context, id: string) {
  const deleted = await own(ctx).findById(id).delete();
  if (deleted === 0) throw errors.NotFound('Subscription not found');
  ctx.audit('notification.push.unsubscribe', { resourceType: 'push_subscription', resourceId: id });
  return { success: true };
}
