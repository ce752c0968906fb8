/** Mail to administrators about a webhook that fails. */
import { type Context, oneLine } from '#core';
import { DISABLE_POLICY } from '../models/webhook.ts';
import type { Reason } from './failures.ts';

export interface Notice {
  webhookId: string;
  userId: string;
  /** Null while it is only failing. */
  reason: Reason | null;
  consecutiveFailures: number;
}

const REASONS: Record<Reason, string> = {
  gone: 'the receiver answered 410 Gone',
  failed_deliveries: `${DISABLE_POLICY.afterFailedDeliveries} deliveries in a row failed`,
  failing_for_days: `every attempt has failed for ${DISABLE_POLICY.afterDays} days`,
};

/** Does nothing when the webhook or the account no longer exists, or webhooks are off there by now. */
export async function sendNotice(ctx: Context, notice: Notice): Promise<void> {
  const { webhookId, userId, reason, consecutiveFailures } = notice;
  const found = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{
      name: string;
      host: string;
      email: string;
      orgId: string | null;
      partnerId: string | null;
    }>(
      `select w.name, w.host, u.email, w.org_id as "orgId", w.partner_id as "partnerId" from webhooks w, users u
       where w.id = $1 and w.deleted_at is null and u.id = $2 and u.status = 'active'`,
      [webhookId, userId],
    );
    return rows[0];
  });
  if (!found || ctx.services.modules.off('webhooks', found)) return;
  const name = oneLine(found.name);
  const what = reason
    ? `was switched off: ${REASONS[reason]}. Nothing is sent to it until it is set active again or a test of it succeeds. What was waiting is kept for 24 hours; later failures can be replayed from its log.`
    : `fails: ${consecutiveFailures} deliveries in a row could not be made. After ${DISABLE_POLICY.afterFailedDeliveries}, or after ${DISABLE_POLICY.afterDays} days without a success, it will be switched off.`;
  await ctx.services.mail.send({
    to: found.email,
    subject: reason ? `Webhook switched off: ${name}` : `Webhook failing: ${name}`,
    text: `Hello,\n\nthe webhook "${name}" (${found.host}, id ${webhookId}) ${what}\n`,
  });
}
