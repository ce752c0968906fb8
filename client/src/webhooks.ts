/** Verifies what a webhook sent before anybody believes it. */
import { Webhook } from 'standardwebhooks';

/** What every message holds. */
export interface WebhookEvent {
  /** The same in every repeat: remember those you have seen. */
  id: string;
  /** The kind, such as `device.online`. */
  type: string;
  timestamp: string;
  apiVersion: string;
  orgId: string | null;
  data: Record<string, unknown>;
}
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/** The message is not from who has the secret, was changed, or is over five minutes old. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** Header names in any case, as servers and gateways hand them on. */
function plain(headers: WebhookHeaders): Record<string, string> {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]));
}

/**
 * @param secrets one, or while a secret is being changed both
 * @param body the bytes as they came: parsed and written again they are others
 * @returns the message; throws WebhookVerificationError where no secret fits
 */
export function verifyWebhook(
  secrets: string | readonly string[],
  body: string | Uint8Array,
  headers: WebhookHeaders,
): WebhookEvent {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  let reason = 'There is no secret to verify with';
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    try {
      return new Webhook(secret).verify(text, plain(headers)) as WebhookEvent;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new WebhookVerificationError(reason);
}
