/** Who can see a webhook, and who can change it. */
import { type Context, errors, mustWriteFor } from '#core';
import { Webhook } from '../models/webhook.ts';

/**
 * Webhooks within reach. Unlike other shared objects, webhooks of a partner are visible only to its own users: their URLs and
 * events are not meant for its customers.
 */
export function visibleWebhooks(ctx: Context) {
  const query = Webhook.in(ctx).whereNull('webhooks.deletedAt');
  if (ctx.scope.kind === 'system') return query;
  const own = ctx.scope.kind === 'partner' ? ctx.scope.partnerId : null;
  return query.where((either) => {
    either.whereNotNull('webhooks.orgId');
    if (own) either.orWhere('webhooks.partnerId', own);
  });
}

/** Throws 404. */
export async function mustSee(ctx: Context, id: string): Promise<Webhook> {
  const webhook = await visibleWebhooks(ctx).findById(id);
  if (!webhook) throw errors.NotFound('Webhook not found');
  return webhook;
}

/** The webhook, locked until the transaction ends. Throws 404, and 403 where the caller may not write it. */
export async function mustLock(ctx: Context, id: string): Promise<Webhook> {
  mustWriteFor(ctx, await mustSee(ctx, id));
  const webhook = await visibleWebhooks(ctx).findById(id).forNoKeyUpdate();
  if (!webhook) throw errors.NotFound('Webhook not found');
  return webhook;
}
