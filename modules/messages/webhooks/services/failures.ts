/** What repeated failure does to a webhook: its administrators hear of it, and in the end it is switched off. */
import { administratorsOf, type Context } from '#core';
import disabled from '../events/disabled.ts';
import failing from '../events/failing.ts';
import { DISABLE_POLICY, Webhook } from '../models/webhook.ts';
import { FRESH, holdOrRelease } from './changes.ts';
import { CHANGED } from './outbox/listeners.ts';

/** A webhook after results were written. */
export interface Standing {
  id: string;
  orgId: string | null;
  partnerId: string | null;
  name: string;
  status: 'active' | 'paused' | 'failed';
  consecutiveFailures: number;
  noticed: number;
  firstFailureAt: Date | null;
  /** A test arrived. */
  proven: boolean;
  /** It answered 410. */
  gone: boolean;
}
export type Reason = 'gone' | 'failed_deliveries' | 'failing_for_days';

/** Platform role. Each conclusion is drawn once: compare-and-set on the status, and on the count told of last. */
export async function concludeFailures(ctx: Context, standings: readonly Standing[]): Promise<void> {
  for (const standing of standings) {
    if (standing.status === 'failed' && standing.proven) await enable(ctx, standing);
    if (standing.status !== 'active') continue;
    const reason = reasonToDisable(standing);
    if (reason) await disable(ctx, standing, reason);
    else await warn(ctx, standing);
  }
}

function reasonToDisable({ gone, consecutiveFailures, firstFailureAt }: Standing): Reason | null {
  if (gone) return 'gone';
  if (consecutiveFailures >= DISABLE_POLICY.afterFailedDeliveries) return 'failed_deliveries';
  const since = firstFailureAt ? Date.now() - firstFailureAt.getTime() : 0;
  return since >= DISABLE_POLICY.afterDays * 86_400_000 ? 'failing_for_days' : null;
}

async function disable(ctx: Context, standing: Standing, reason: Reason): Promise<void> {
  const { id, orgId, partnerId, name, consecutiveFailures } = standing;
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
  await mailNotices(ctx, standing, reason);
}

async function enable(ctx: Context, { id, orgId, partnerId, name }: Standing): Promise<void> {
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

/** One notice for each mark that is passed, not one a delivery. */
async function warn(ctx: Context, standing: Standing): Promise<void> {
  const { id, orgId, partnerId, name, consecutiveFailures, noticed } = standing;
  const mark = DISABLE_POLICY.noticesAt.filter((at) => at <= consecutiveFailures).at(-1) ?? 0;
  if (mark <= noticed) return;
  const changed = await Webhook.query(ctx.trx).where({ id }).where('noticed', '<', mark).patch({ noticed: mark });
  if (changed === 0) return;
  ctx.emit(failing, { webhookId: id, partnerId, name, consecutiveFailures }, { orgId });
  await mailNotices(ctx, standing, null);
}

/** To the organization's administrators, or to its partner's where it has none of its own. */
async function mailNotices(
  ctx: Context,
  { id, orgId, partnerId, consecutiveFailures }: Standing,
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
