/** One attempt to deliver a message: signed, sent, and what came of it in one word. */
import { retryAfterOf, type Services, UpstreamError, UrlBlockedError } from '#core';
import type { ErrorCode } from '../../models/delivery.ts';
import { openHeaders, sign } from '../secrets.ts';
import type { Claim } from './claims.ts';
import { delayAfter } from './delays.ts';

const TIMEOUT_MS = 15_000;
/** Characters of an answer that are kept. */
const KEPT = 1000;

export interface Result {
  id: string;
  lease: string;
  webhookId: string;
  host: string;
  /** `released`: not tried after all; somebody else may at once. */
  status: 'delivered' | 'retrying' | 'failed' | 'released';
  /** Until the next attempt. */
  seconds: number | null;
  responseStatus: number | null;
  responseBody: string | null;
  responseTimeMs: number | null;
  errorMessage: string | null;
  errorCode: ErrorCode | null;
  /** The receiver wants nothing more, ever. */
  gone: boolean;
  /** No connection came about; null where that was not tried, and where it is not worth noting that one did. */
  connected: boolean | null;
}

/** Never rejects: whatever goes wrong is the result. */
export async function attempt(
  { http, seal, config }: Pick<Services, 'http' | 'seal' | 'config'>,
  claim: Claim,
  signal: AbortSignal,
): Promise<Result> {
  const { id, lease, webhookId, host, body, messageId } = claim;
  const begun = performance.now();
  const base = { id, lease, webhookId, host, gone: false, seconds: null };
  const took = () => Math.round(performance.now() - begun);
  try {
    const webhook = { id: webhookId, headers: claim.headers, secrets: claim.secrets };
    const at = new Date(Math.floor(Date.now() / 1000) * 1000);
    const answer = await http.request(claim.url, {
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
    const { status } = answer;
    const response = {
      responseStatus: status,
      responseBody: answer.text().replaceAll('\0', '').slice(0, KEPT).toWellFormed(),
      responseTimeMs: took(),
      connected: claim.hostFails ? true : null,
    };
    if (status >= 200 && status < 300) {
      return { ...base, ...response, status: 'delivered', errorMessage: null, errorCode: null };
    }
    const failure = { ...base, ...response, errorMessage: `HTTP ${status}`, errorCode: 'http' as const };
    if (status === 410) return { ...failure, status: 'failed', gone: true };
    return { ...failure, ...later(claim, retryAfterOf(status, answer.headers['retry-after'])) };
  } catch (error) {
    const none = { responseStatus: null, responseBody: null };
    if (error instanceof UpstreamError && error.reason === 'aborted') {
      const why = { errorMessage: null, errorCode: null, responseTimeMs: null, connected: null };
      return { ...base, ...none, ...why, status: 'released', seconds: 0 };
    }
    const errorCode = codeOf(error);
    const connected = errorCode === 'dns' || errorCode === 'connect' || errorCode === 'tls' ? false : null;
    const errorMessage = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    return { ...base, ...none, ...later(claim, null), responseTimeMs: took(), errorMessage, errorCode, connected };
  }
}

function later(
  { attempts, maxAttempts }: Claim,
  retryAfter: number | null,
): { status: 'retrying' | 'failed'; seconds: number | null } {
  const made = attempts + 1;
  if (made >= maxAttempts) return { status: 'failed', seconds: null };
  return { status: 'retrying', seconds: delayAfter(made, retryAfter) };
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof UrlBlockedError) return 'blocked_address';
  if (!(error instanceof UpstreamError)) return 'connect';
  const { reason, cause } = error;
  if (reason === 'dns' || reason === 'tls' || reason === 'too_large') return reason;
  // A host that drops packets is not slow: no connection came about.
  const code = (cause as { code?: unknown } | undefined)?.code;
  if (reason === 'timeout') return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT' ? 'connect' : 'timeout';
  return reason === 'network' ? 'connect' : 'http';
}
