/** Notices as push messages to the browsers of a user (RFC 8030), encrypted so that only those can read them. */
import { createHash } from 'node:crypto';
import webPush from 'web-push';
import { type Context, retryAfterOf, UpstreamError, UrlBlockedError } from '#core';
import { pushKeys } from '../push/keys.ts';
import { openSubscription, type Target } from '../push/subscriptions.ts';
import type { Claim, Item } from './claims.ts';
import type { Outcome } from './outcome.ts';

const TIMEOUT_MS = 10_000;
/** Push services keep what they cannot hand on for so long. */
const TTL_SECONDS = 86_400;
const URGENCY = { low: 'low', normal: 'normal', high: 'high', urgent: 'high' } as const;

interface Try {
  state: 'sent' | 'gone' | 'refused' | 'later';
  error?: string;
  retryAfter?: number | null;
  /** The push service's name of the message. */
  message?: string | null;
}

/** To all browsers of the user, or to those that an attempt before has not reached. What is gone is forgotten. */
export async function pushNotice(ctx: Context, { userId, targets, items }: Claim): Promise<Outcome> {
  const [item] = items;
  const subscriptions = await ctx.asPlatform((own) => openSubscriptions(own, userId, targets));
  if (!item || subscriptions.length === 0) return { sent: false, permanent: true, error: 'no browser is subscribed' };
  const vapidDetails = await pushKeys(ctx);
  const tries = await Promise.all(
    subscriptions.map(async (one) => ({ id: one.id, ...(await pushTo(ctx, one, item, vapidDetails)) })),
  );
  const of = (state: Try['state']) => tries.filter((one) => one.state === state);
  await note(ctx, of('sent'), of('gone'));
  const later = of('later');
  const error = tries.find((one) => one.error)?.error;
  const providerMessageId = of('sent')[0]?.message ?? null;
  if (later.length > 0) {
    const retryAfter = Math.max(0, ...later.map((one) => one.retryAfter ?? 0));
    return {
      sent: false,
      targets: later.map(({ id }) => id),
      retryAfter,
      providerMessageId,
      ...(error ? { error } : {}),
    };
  }
  // Of the attempts before, some may have reached the browsers that are not tried any more.
  const sent = of('sent').length > 0 || targets !== null;
  return sent ? { sent, providerMessageId } : { sent, permanent: true, error: error ?? 'no browser took it' };
}

async function openSubscriptions(ctx: Context, userId: string, targets: string[] | null): Promise<Target[]> {
  const { rows } = await ctx.sql<{ id: string; sealed: string }>(
    `select id, sealed from push_subscriptions where user_id = $1 and ($2::uuid[] is null or id = any ($2)) order by id`,
    [userId, targets],
  );
  return rows.map((row) => openSubscription(ctx, row));
}

async function pushTo(
  ctx: Context,
  target: Target,
  item: Item,
  vapidDetails: Awaited<ReturnType<typeof pushKeys>>,
): Promise<Try> {
  try {
    const { endpoint, method, headers, body } = webPush.generateRequestDetails(target, payloadOf(item), {
      vapidDetails,
      TTL: TTL_SECONDS,
      urgency: URGENCY[item.priority],
      topic: topicOf(item),
    });
    const answer = await ctx.services.http.request(endpoint, {
      method,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: 65_536,
    });
    const { status } = answer;
    const error = `the push service answered ${status}`;
    if (status >= 200 && status < 300) return { state: 'sent', message: oneOf(answer.headers.location) };
    if (status === 404 || status === 410) return { state: 'gone', error };
    if (status === 429 || status === 408 || status >= 500) {
      return { state: 'later', error, retryAfter: retryAfterOf(status, answer.headers['retry-after']) };
    }
    return { state: 'refused', error };
  } catch (error) {
    if (error instanceof UpstreamError) return { state: 'later', error: error.message };
    // The address may not be called, or the browser's keys are none: neither gets better.
    const why = error instanceof UrlBlockedError ? error.message : 'the subscription cannot be used';
    return { state: 'gone', error: why };
  }
}

/** A repeat replaces what still waits at the push service, and what the browser shows. */
const topicOf = ({ dedupeKey, notificationId }: Item) =>
  createHash('sha256')
    .update(dedupeKey ?? notificationId)
    .digest('base64url')
    .slice(0, 32);

/** Small: push services take some 4,000 bytes. */
function payloadOf(item: Item): string {
  const { notificationId: id, type, priority, title, message, link, organization } = item;
  const body = [...message].slice(0, 300).join('');
  return JSON.stringify({ id, type, priority, title, body, link, organization, tag: topicOf(item) });
}

const oneOf = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header) ?? null;

async function note(ctx: Context, sent: readonly { id: string }[], gone: readonly { id: string }[]): Promise<void> {
  if (sent.length + gone.length === 0) return;
  await ctx.asPlatform(async (own) => {
    const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
    await own.sql('delete from push_subscriptions where id = any ($1)', [ids(gone)]);
    await own.sql('update push_subscriptions set last_used_at = now() where id = any ($1)', [ids(sent)]);
  });
}
