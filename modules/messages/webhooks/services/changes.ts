/** Changing a webhook: its URL, events, secrets and status. */
import { announceDue, type Context, changesOf, errors } from '#core';
import { type Header, MASK, type Webhook, type WebhookUpdate } from '../models/webhook.ts';
import { mustKnow } from './kinds.ts';
import { CHANGED } from './outbox/listeners.ts';
import { mustLock, visibleWebhooks } from './reach.ts';
import { sealHeaders, withNewSecret } from './secrets.ts';
import { audit, mustBeCallable, show } from './webhooks.ts';

/**
 * Throws NO_UPDATES, URL_BLOCKED, UNKNOWN_EVENT, CREDENTIALS_REQUIRED and, for a pause of a webhook that failed,
 * INVALID_STATE. The secret is in the answer when it was renewed.
 */
export async function updateWebhook(ctx: Context, id: string, update: WebhookUpdate) {
  if (Object.keys(update).length === 0) throw errors.NoUpdates();
  const { url, secret: given, rotateSecret, headers, status, ...plain } = update;
  if (plain.events) mustKnow(ctx, plain.events);
  const target = url ? await mustBeCallable(ctx, url) : {};
  const before = await mustLock(ctx, id);
  if (url && url !== before.url) mustReenter(before.headers, headers);
  if (status === 'paused' && before.status === 'failed') {
    throw errors.InvalidState({ details: [{ current: before.status, allowed: ['active'] }] });
  }
  const renewed = given || rotateSecret ? withNewSecret(ctx, id, before.secrets, given) : null;
  const after = await visibleWebhooks(ctx)
    .where({ 'webhooks.id': id, 'webhooks.status': before.status })
    .patch({
      ...plain,
      ...target,
      ...(headers ? { headers: sealHeaders(ctx, id, headers, before.headers) } : {}),
      ...(renewed ? { secrets: renewed.secrets } : {}),
      ...(status ? { status } : {}),
      ...(before.status === 'failed' && status === 'active' ? FRESH : {}),
      updatedAt: new Date(),
    })
    .returning('*')
    .first();
  if (!after) throw errors.NotFound('Webhook not found');
  if (status && status !== before.status) await holdOrRelease(ctx, id, status);
  const { secret: _, ...named } = update;
  const changed = changesOf(show(before), show(after), Object.keys(named));
  audit(ctx, 'webhook.update', after, { ...changed, ...(renewed ? { secretRenewed: true } : {}) });
  ctx.notify(CHANGED, '');
  return { data: { ...show(after), ...(renewed ? { secret: renewed.secret } : {}) } };
}

/** The counters of a webhook that starts again. */
export const FRESH = {
  disabledReason: null,
  consecutiveFailures: 0,
  noticed: 0,
  firstFailureAt: null,
} satisfies Partial<Webhook>;

/** Otherwise a user who may edit the webhook could send stored values to a server of their own. */
function mustReenter(before: readonly Header[], given: readonly Header[] | undefined): void {
  if (before.length === 0) return;
  if (given?.every(({ value }) => value !== MASK)) return;
  throw errors.CredentialsRequired({
    message: 'Another URL requires the values of all headers again',
    details: [{ in: 'payload', path: 'headers', message: 'give all values, or no header' }],
  });
}

/** Deliveries of an inactive webhook have no due time, so that claims do not read them. Tests are sent all the same. */
export async function holdOrRelease(ctx: Context, id: string, status: 'active' | 'paused' | 'failed'): Promise<void> {
  const text =
    status === 'active'
      ? `update webhook_queue set due_at = now() where webhook_id = $1 and due_at = 'infinity'`
      : `update webhook_queue set due_at = 'infinity' where webhook_id = $1 and not test and lease is null`;
  await ctx.sql(text, [id]);
  if (status === 'active') announceDue(ctx, 'webhooks');
}
