/** Repeated failure of a webhook: mails to its administrators, and in the end it is disabled. */
import { administratorsOf, type Context } from '#core';
import disabled from '../events/disabled.ts';
import failing from '../events/failing.ts';
import { DISABLE_POLICY, Webhook } from '../models/webhook.ts';
import { FRESH, holdOrRelease } from './changes.ts';
import { releaseAfterSuccess } from './early-attempts.ts';
import { CHANGED } from './outbox/listeners.ts';

/** A webhook after the results of some deliveries were written. */
export interface WebhookState {
  id: string;
  orgId: string | null;
  partnerId: string | null;
  name: string;
  status: 'active' | 'paused' | 'failed';
  consecutiveFailures: number;
  noticed: number;
  firstFailureAt: Date | null;
  /** A test was delivered. */
  testDelivered: boolean;
  /** The receiver answered 410. */
  gone: boolean;
  /** The first success since a failure. */
  recovered: boolean;
}
export type Reason = 'gone' | 'failed_deliveries' | 'failing_for_days';

/** Platform role. Each change happens once: compare-and-set on the status, and on the count of the last notice. */
export async function concludeFailures(ctx: Context, states: readonly WebhookState[]): Promise<void> {
  for (const state of states) {
    if (state.status === 'failed' && state.testDelivered) await enable(ctx, state);
    if (state.recovered) await releaseAfterSuccess(ctx, state.id);
    if (state.status !== 'active') continue;
    const reason = reasonToDisable(state);
    if (reason) await disable(ctx, state, reason);
    else await warn(ctx, state);
  }
}

function reasonToDisable({ gone, consecutiveFailures, firstFailureAt }: WebhookState): Reason | null {
  if (gone) return 'gone';
  if (consecutiveFailures >= DISABLE_POLICY.afterFailedDeliveries) return 'failed_deliveries';
  const since = firstFailureAt ? Date.now() - firstFailureAt.getTime() : 0;
  return since >= DISABLE_POLICY.afterDays * 86_400_000 ? 'failing_for_days' : null;
}

async function disable(ctx: Context, state: WebhookState, reason: Reason): Promise<void> {
  const { id, orgId, partnerId, name, consecutiveFailures } = state;
  const changed = await Webhook.query(ctx.trx)
    .where({ id, status: 'active' })
    .patch({ status: 'failed', disabledReason: reason });
  if (changed === 0) return;
  await holdOrRelease(ctx, id, 'failed');
  const details = { from: 'active', to: 'failed', reason };
  const owner = partnerId ? { orgId, partnerId } : { orgId };
  ctx.audit('webhook.disable', { ...owner, resourceType: 'webhook', resourceId: id, resourceName: name, details });
  ctx.emit(disabled, { webhookId: id, partnerId, name, reason, consecutiveFailures }, { orgId });
  ctx.notify(CHANGED, '');
  await mailNotices(ctx, state, reason);
}

async function enable(ctx: Context, { id, orgId, partnerId, name }: WebhookState): Promise<void> {
  const changed = await Webhook.query(ctx.trx)
    .where({ id, status: 'failed' })
    .patch({ status: 'active', ...FRESH });
  if (changed === 0) return;
  await holdOrRelease(ctx, id, 'active');
  const details = { from: 'failed', to: 'active', reason: 'test' };
  const owner = partnerId ? { orgId, partnerId } : { orgId };
  ctx.audit('webhook.enable', { ...owner, resourceType: 'webhook', resourceId: id, resourceName: name, details });
  ctx.notify(CHANGED, '');
}

/** One notice for each mark that is passed, however many deliveries failed at once. */
async function warn(ctx: Context, state: WebhookState): Promise<void> {
  const { id, orgId, partnerId, name, consecutiveFailures, noticed } = state;
  const mark = DISABLE_POLICY.noticesAt.filter((at) => at <= consecutiveFailures).at(-1) ?? 0;
  if (mark <= noticed) return;
  const changed = await Webhook.query(ctx.trx).where({ id }).where('noticed', '<', mark).patch({ noticed: mark });
  if (changed === 0) return;
  ctx.emit(failing, { webhookId: id, partnerId, name, consecutiveFailures }, { orgId });
  await mailNotices(ctx, state, null);
}

/** To the administrators of the organization, or of its partner when it has none. */
async function mailNotices(
  ctx: Context,
  { id, orgId, partnerId, consecutiveFailures }: WebhookState,
  reason: Reason | null,
): Promise<void> {
  let people = await administratorsOf(ctx, { orgId, partnerId });
  if (people.length === 0 && orgId) {
    const { rows } = await ctx.sql<{ id: string }>('select partner_id as id from organizations where id = $1', [orgId]);
    people = await administratorsOf(ctx, { orgId: null, partnerId: rows[0]?.id ?? null });
  }
  for (const { id: userId } of people) {
    ctx.addJob('webhooks/send-notice', { webhookId: id, userId, reason, consecutiveFailures }, { orgId: null });
  }
}
