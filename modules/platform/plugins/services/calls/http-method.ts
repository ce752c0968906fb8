/** `http.fetch`: through the server's guarded client, which blocks private networks and the metadata address. */
import { type Services, UpstreamError, UrlBlockedError } from '#core';
import { HostError, type HostErrorCode, MOST_BODY_BYTES, plainHeaders, requestTimeout } from '#plugin-sdk/host';

interface Params {
  url: string;
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string>;
  body?: string;
  timeoutMs?: number;
}

/** Redirects are not followed: the manifest declares the first server, not the target of a redirect. */
export async function fetchFor(http: Services['http'], { url, timeoutMs, ...init }: Params, mostMs: number) {
  try {
    const answer = await http.request(url, {
      ...init,
      timeoutMs: requestTimeout(timeoutMs, mostMs),
      maxBytes: MOST_BODY_BYTES,
      maxRedirects: 0,
    });
    return { status: answer.status, headers: plainHeaders(answer.headers), body: answer.text() };
  } catch (error) {
    throw told(error);
  }
}

function told(error: unknown): unknown {
  const code: HostErrorCode | null =
    error instanceof UrlBlockedError ? 'EGRESS_DENIED' : error instanceof UpstreamError ? 'UPSTREAM_ERROR' : null;
  return code ? new HostError(code, (error as Error).message) : error;
}
