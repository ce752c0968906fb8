/** Signing secrets and values of headers: made, sealed, opened for sending, and never shown again. */
import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook as Signer } from 'standardwebhooks';
import { type Context, errors, type Services } from '#core';
import { type Header, MASK, type Secret, type Webhook } from '../models/webhook.ts';

/** Hours for which a replaced secret still signs. */
const OVERLAP_HOURS = 24;
type Seal = Services['seal'];

const secretPlace = (id: string) => ({ table: 'webhooks', column: 'secrets', row: id });
const headerPlace = (id: string) => ({ table: 'webhooks', column: 'headers', row: id });

/** Adds a new secret in front of those that still sign: at most one, for 24 hours. */
export function withNewSecret(
  ctx: Context,
  webhookId: string,
  before: readonly Secret[],
  given?: string,
): { secret: string; secrets: Secret[] } {
  const secret = given ?? `whsec_${randomBytes(32).toString('base64')}`;
  const now = new Date();
  const expiresAt = new Date(now.getTime() + OVERLAP_HOURS * 3_600_000).toISOString();
  const sealed = ctx.services.seal.seal(secret, secretPlace(webhookId));
  const made = { id: randomUUID(), sealed, createdAt: now.toISOString(), expiresAt: null };
  return { secret, secrets: [made, ...before.slice(0, 1).map((old) => ({ ...old, expiresAt }))] };
}

export const signing = (secrets: readonly Secret[], at = Date.now()): Secret[] =>
  secrets.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > at);

/** `webhook-signature`: one signature for each secret that signs (Standard Webhooks). `at` in whole seconds is what is signed. */
export function sign(
  seal: Seal,
  webhook: Pick<Webhook, 'id' | 'secrets'>,
  messageId: string,
  at: Date,
  body: string,
): string {
  return signing(webhook.secrets, at.getTime())
    .map(({ sealed }) => new Signer(seal.open(sealed, secretPlace(webhook.id))).sign(messageId, at, body))
    .join(' ');
}

/** Sealed for storage. A masked value keeps that of the same key; throws CREDENTIALS_REQUIRED where `kept` is empty. */
export function sealHeaders(
  ctx: Context,
  webhookId: string,
  headers: readonly Header[],
  kept: readonly Header[] = [],
): Header[] {
  return headers.map(({ key, value }) => {
    if (value !== MASK) return { key, value: ctx.services.seal.seal(value, headerPlace(webhookId)) };
    const before = kept.find((one) => one.key.toLowerCase() === key.toLowerCase());
    if (!before)
      throw errors.CredentialsRequired({
        message: 'Another URL requires the values of all headers again',
        details: [{ path: 'headers', message: `${key} has no value to keep` }],
      });
    return { key, value: before.value };
  });
}

export const openHeaders = (seal: Seal, { id, headers }: Pick<Webhook, 'id' | 'headers'>): Record<string, string> =>
  Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), seal.open(value, headerPlace(id))]));
