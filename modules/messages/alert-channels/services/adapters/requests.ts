/** One request to a channel's server, and the outcome that follows from its answer. */
import { cutText, oneLine, retryAfterOf, UpstreamError, UrlBlockedError } from '#core';
import type { ChannelServices } from '../../models/adapter.ts';
import { type Outcome, SENT } from '../../models/message.ts';

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 65_536;

/** 2xx is success; 4xx except 408 and 429 is permanent. Never rejects because of the receiver. */
export async function sendJson(
  { http }: Pick<ChannelServices, 'http'>,
  url: string,
  body: string,
  { method = 'POST', headers = {} }: { method?: 'POST' | 'PUT'; headers?: Record<string, string> } = {},
): Promise<Outcome> {
  try {
    const answer = await http.request(url, {
      method,
      body,
      headers: { ...headers, 'content-type': 'application/json' },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
    });
    const { status } = answer;
    const success = status >= 200 && status < 300;
    return {
      ...SENT,
      success,
      status,
      permanent: !success && status < 500 && status !== 408 && status !== 429,
      answer: cutText(oneLine(answer.text().replaceAll('\0', '').toWellFormed()), 300),
      retryAfter: retryAfterOf(status, answer.headers['retry-after']),
    };
  } catch (error) {
    if (error instanceof UrlBlockedError) return failure(error.message, true);
    if (error instanceof UpstreamError) return failure(error.message, false);
    throw error;
  }
}

export const failure = (answer: string, permanent: boolean): Outcome => ({
  ...SENT,
  ...{ success: false, permanent, answer: cutText(oneLine(answer), 300) },
});

/** Sends to each recipient that has not received it. Permanent only where every recipient failed permanently. */
export async function toEach(
  recipients: readonly string[],
  reached: readonly string[],
  send: (recipient: string) => Promise<{ id: string } | { error: string; permanent: boolean }>,
): Promise<Outcome> {
  const done = [...reached];
  const failed: { error: string; permanent: boolean }[] = [];
  let providerMessageId: string | null = null;
  for (const recipient of recipients) {
    if (done.includes(recipient)) continue;
    const sent = await send(recipient);
    if ('id' in sent) {
      done.push(recipient);
      providerMessageId ??= sent.id;
    } else failed.push(sent);
  }
  const later = failed.some(({ permanent }) => !permanent);
  const success = !later && done.length > 0;
  const answer = failed[0]?.error ?? `sent to ${done.length}`;
  return {
    ...SENT,
    success,
    permanent: !later && !success,
    answer: cutText(answer, 300),
    providerMessageId,
    reached: done,
  };
}
