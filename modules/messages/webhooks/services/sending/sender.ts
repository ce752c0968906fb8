/** One attempt to deliver a message to a webhook: signed, sent, and described by its outcome. */
import { type Outcome, retryAfterOf, type Services, UpstreamError, UrlBlockedError } from '#core';
import type { ErrorCode } from '../../models/delivery.ts';
import type { Header, Secret } from '../../models/webhook.ts';
import { openHeaders, sign } from '../secrets.ts';

const TIMEOUT_MS = 15_000;
/** Characters of a response that are kept. */
const MAX_BODY_LENGTH = 1000;
const MAX_ERROR_LENGTH = 500;

export interface Message {
  webhookId: string;
  messageId: string;
  /** The text that is signed and sent. */
  body: string;
  url: string;
  headers: Header[];
  secrets: Secret[];
}
export interface Details {
  responseStatus: number | null;
  responseBody: string | null;
  responseTimeMs: number | null;
  errorCode: ErrorCode | null;
  /** The receiver answered 410: it wants no further messages. */
  gone: boolean;
}

type Sending = Pick<Services, 'http' | 'seal' | 'config'>;

/** Never rejects. */
export async function send(services: Sending, message: Message, signal: AbortSignal): Promise<Outcome<Details>> {
  const begun = performance.now();
  const took = () => Math.round(performance.now() - begun);
  try {
    const response = await post(services, message, signal);
    const { status } = response;
    const details: Details = {
      responseStatus: status,
      responseBody: response.text().replaceAll('\0', '').slice(0, MAX_BODY_LENGTH).toWellFormed(),
      responseTimeMs: took(),
      errorCode: null,
      gone: status === 410,
    };
    if (status >= 200 && status < 300) return { result: 'delivered', connected: true, details };
    return {
      result: details.gone ? 'rejected' : 'failed',
      error: `HTTP ${status}`,
      retryAfter: retryAfterOf(status, response.headers['retry-after']),
      connected: true,
      details: { ...details, errorCode: 'http' },
    };
  } catch (error) {
    return failureOf(error, took());
  }
}

function post({ http, seal, config }: Sending, message: Message, signal: AbortSignal) {
  const { webhookId: id, headers, secrets, messageId, body, url } = message;
  const webhook = { id, headers, secrets };
  const at = new Date(Math.floor(Date.now() / 1000) * 1000);
  return http.request(url, {
    method: 'POST',
    headers: {
      'user-agent': `Quartermaster/${config.version}`,
      ...openHeaders(seal, webhook),
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(at.getTime() / 1000),
      'webhook-signature': sign(seal, webhook, messageId, at, body),
    },
    body,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
}

function failureOf(error: unknown, responseTimeMs: number): Outcome<Details> {
  if (error instanceof UpstreamError && error.reason === 'aborted') return { result: 'released' };
  const errorCode = codeOf(error);
  const unreachable = errorCode === 'dns' || errorCode === 'connect' || errorCode === 'tls';
  return {
    result: 'failed',
    error: (error instanceof Error ? error.message : String(error)).slice(0, MAX_ERROR_LENGTH),
    connected: unreachable ? false : null,
    details: { responseStatus: null, responseBody: null, responseTimeMs, errorCode, gone: false },
  };
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof UrlBlockedError) return 'blocked_address';
  if (!(error instanceof UpstreamError)) return 'connect';
  const { reason, cause } = error;
  if (reason === 'dns' || reason === 'tls' || reason === 'too_large') return reason;
  // A host that drops packets is not slow: no connection was made.
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (reason === 'timeout') return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT' ? 'connect' : 'timeout';
  return reason === 'network' ? 'connect' : 'http';
}
