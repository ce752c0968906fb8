/** Webhooks: listing, reading, creating and removing them. */
import { randomUUID } from 'node:crypto';
import {
  type Context,
  errors,
  mustAccessOrg,
  ownerOf,
  type PageQuery,
  page,
  type SortKey,
  UrlBlockedError,
} from '#core';
import { WebhookLimit } from '../errors.ts';
import {
  API_VERSIONS,
  DISABLE_POLICY,
  MASK,
  Webhook,
  type WebhookCreate,
  type WebhookStatus,
} from '../models/webhook.ts';
import { mustKnow } from './kinds.ts';
import { CHANGED } from './outbox/listeners.ts';
import { mustLock, mustSee, visibleWebhooks } from './reach.ts';
import { sealHeaders, signing, withNewSecret } from './secrets.ts';

const MAX_WEBHOOKS = 50;
const ORDER = {
  name: 'webhooks',
  keys: [
    { expression: 'lower(webhooks.name)', direction: 'asc', type: 'text' },
    { expression: 'webhooks.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};
// Totals of the last 24 hours, by whole hours, as they are counted.
const LAST_DAY = `(select jsonb_build_object('delivered', coalesce(sum(c.delivered), 0), 'failed', coalesce(sum(c.failed), 0))
  from webhook_counts c where c.webhook_id = webhooks.id and c.hour > now() - interval '24 hours')`;

export interface WebhookQuery extends PageQuery {
  orgId?: string;
  status?: WebhookStatus;
}

/** Without secrets: header values masked, signing secrets by their ids only. */
export function show(webhook: Webhook) {
  const { host: _host, noticed: _noticed, deletedAt: _deletedAt, headers, secrets, ...shown } = webhook;
  return {
    ...shown,
    headers: headers.map(({ key }) => ({ key, value: MASK })),
    secrets: signing(secrets).map(({ id, createdAt, expiresAt }) => ({ id, createdAt, expiresAt })),
    disablePolicy: DISABLE_POLICY,
  };
}

export function listWebhooks(ctx: Context, query: WebhookQuery) {
  const { orgId, status } = query;
  const found = visibleWebhooks(ctx).select('webhooks.*', Webhook.raw(`${LAST_DAY} as "last24h"`));
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    found.where('webhooks.orgId', orgId);
  }
  if (status) found.where('webhooks.status', status);
  return page(found, query, ORDER, (row) => {
    const { last24h, ...webhook } = row as Webhook & { last24h: object };
    return { ...show(webhook as unknown as Webhook), stats: { last24h } };
  });
}

export async function readWebhook(ctx: Context, id: string) {
  return { data: show(await mustSee(ctx, id)) };
}

/** Throws URL_BLOCKED for a URL that the outbound client would block. Runs before the first query, because it resolves names. */
export async function mustBeCallable(ctx: Context, url: string): Promise<{ url: string; host: string }> {
  try {
    await ctx.services.http.check(url);
  } catch (error) {
    if (!(error instanceof UrlBlockedError)) throw error;
    throw errors.UrlBlocked({
      message: error.message,
      details: [{ in: 'payload', path: 'url', message: error.message }],
    });
  }
  return { url, host: new URL(url).host };
}

/** Throws URL_BLOCKED, UNKNOWN_EVENT, WEBHOOK_LIMIT_REACHED. The answer is the only one that shows the secret. */
export async function createWebhook(ctx: Context, { secret: given, headers = [], ...input }: WebhookCreate) {
  const owner = ownerOf(ctx, input);
  mustKnow(ctx, input.events);
  const target = await mustBeCallable(ctx, input.url);
  const id = randomUUID();
  await mustHaveRoom(ctx, owner);
  const { secret, secrets } = withNewSecret(ctx, id, [], given);
  const webhook = await Webhook.query(ctx.trx)
    .insert({
      apiVersion: API_VERSIONS[0],
      ...input,
      ...owner,
      ...target,
      id,
      headers: sealHeaders(ctx, id, headers),
      secrets,
      createdBy: ctx.actor.id,
    })
    .returning('*');
  audit(ctx, 'webhook.create', webhook, { url: webhook.url, events: webhook.events });
  ctx.notify(CHANGED, '');
  return { data: { ...show(webhook), secret } };
}

/** Creations for one owner wait for each other until they commit. */
async function mustHaveRoom(ctx: Context, { orgId, partnerId }: Pick<Webhook, 'orgId' | 'partnerId'>): Promise<void> {
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks:${orgId ?? partnerId}`]);
  const owned = visibleWebhooks(ctx).where(orgId ? { 'webhooks.orgId': orgId } : { 'webhooks.partnerId': partnerId });
  if ((await owned.resultSize()) >= MAX_WEBHOOKS) throw WebhookLimit();
}

/** Removes its secrets and stops at once; waiting deliveries are cancelled within a minute. */
export async function deleteWebhook(ctx: Context, id: string) {
  const webhook = await mustLock(ctx, id);
  await visibleWebhooks(ctx).findById(id).patch({ deletedAt: new Date(), secrets: [], headers: [] });
  audit(ctx, 'webhook.delete', webhook, { url: webhook.url });
  ctx.notify(CHANGED, '');
  return { success: true };
}

export function audit(ctx: Context, action: string, webhook: Webhook, details: Record<string, unknown>): void {
  const { orgId, partnerId, id, name } = webhook;
  const owner = partnerId ? { orgId, partnerId } : { orgId };
  ctx.audit(action, { ...owner, resourceType: 'webhook', resourceId: id, resourceName: name, details });
}
