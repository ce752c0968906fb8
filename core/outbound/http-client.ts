/** The one guarded HTTP client: public addresses only, no surprises in size, time or direction. */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { type Cidr, checkAddresses, checkUrl, parseCidrs, UrlBlockedError } from './address-rules.ts';
import { decodeBody, mustBePlain, readBody } from './response-bodies.ts';
import { UpstreamError, type UpstreamReason } from './upstream-error.ts';

export { UpstreamError, type UpstreamReason, UrlBlockedError };

const userAgent = 'Quartermaster';
const mostRedirects = 3;
const sayings = {
  dns: 'The name of the other side could not be resolved',
  tls: 'No secure connection to the other side was possible',
  request: 'The request is not valid HTTP',
  network: 'The connection to the other side failed',
};
const clientsOwn = /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/;
/** All that goes along to another origin: what authorises a request has too many names to list the other way round. */
const harmless = /^(accept|accept-language|accept-encoding|user-agent|content-type|content-language)$/;
const redirects = new Set([301, 302, 303, 307, 308]);

export type ResponseHeaders = Record<string, string | string[] | undefined>;

export interface RequestOptions {
  /** Default `GET`. */
  method?: string | undefined;
  /** Host, Content-Length and hop-by-hop fields are the client's own and left out. */
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
  /** From the look-up to the last byte, all redirects included; default 15,000. */
  timeoutMs?: number | undefined;
  /** Of the response body, compressed and decompressed; default 1 MB (1,048,576). */
  maxBytes?: number | undefined;
  /** 0 (the default: a redirect is returned like any answer) to 3. */
  maxRedirects?: number | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Takes the body of a 2xx answer piece by piece, for what is too large to be held; `body` is empty then. Such a body must
   * not be compressed.
   */
  sink?: ((chunk: Uint8Array) => void) | undefined;
}

export interface HttpResponse {
  status: number;
  headers: ResponseHeaders;
  /** Decompressed. */
  body: Buffer;
  text(): string;
  /** Throws `UpstreamError` (`decode`) when the body is not JSON. */
  json(): unknown;
}

export interface HttpClient {
  /**
   * Resolves with any status. Rejects with `UrlBlockedError` when the URL, a redirect or an address is not allowed, with
   * `UpstreamError` when the other side fails, with `RangeError` for options out of bounds.
   */
  request(url: string | URL, options?: RequestOptions): Promise<HttpResponse>;
  /** Rejects with `UrlBlockedError` for a URL that would be refused. One whose name cannot be resolved now passes. */
  check(url: string): Promise<void>;
  /** Ends all connections; running requests are cut off. */
  close(): Promise<void>;
}

export interface HttpClientOptions {
  /** Networks that may be called although they are not public; default none. */
  allowCidrs?: readonly string[] | undefined;
  /** Whether plain http may be called; default no. */
  allowHttp?: boolean | undefined;
  /** How names are looked up; default: the system. */
  lookup?: LookupFunction | undefined;
}

/** Opens a client. Proxy variables of the environment are not used. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { allowHttp = false, lookup = systemLookup as LookupFunction } = options;
  const allowCidrs = parseCidrs(options.allowCidrs ?? []);
  const allowed = { allowHttp, allowCidrs };
  const agent = new Agent({ allowH2: false, connect: { lookup: guardedLookup(lookup, allowCidrs) } });

  return {
    async request(target, { timeoutMs = 15_000, maxBytes = 1_048_576, maxRedirects = 0, ...rest } = {}) {
      if (!(maxRedirects >= 0 && maxRedirects <= mostRedirects)) throw new RangeError('maxRedirects must be 0 to 3');
      const timeout = new AbortController();
      const signal = rest.signal ? AbortSignal.any([timeout.signal, rest.signal]) : timeout.signal;
      const givenUp = rejectOnAbort(signal);
      let hop = firstHop(checkUrl(target, allowed), rest);
      const timer = setTimeout(() => timeout.abort(), timeoutMs);
      try {
        for (let redirects = 0; ; redirects++) {
          const answer = await Promise.race([send(agent, hop, signal), givenUp]);
          const next = maxRedirects > 0 ? nextHop(hop, answer.statusCode, answer.headers.location) : undefined;
          if (next === undefined) return await read(answer, hop.method, maxBytes, rest.sink);
          // The rest of a redirect's answer is of no interest and must not hold the connection.
          answer.body.on('error', () => undefined).destroy();
          if (redirects === maxRedirects) throw new UpstreamError('redirect', 'There were too many redirects');
          hop = { ...next, url: checkUrl(next.url, allowed) };
        }
      } catch (error) {
        throw toUpstreamError(error, timeout.signal.aborted, rest.signal?.aborted ?? false);
      } finally {
        clearTimeout(timer);
      }
    },
    async check(target) {
      const url = checkUrl(target, allowed);
      const error = await new Promise<Error | null>((resolve) => {
        guardedLookup(lookup, allowCidrs)(url.hostname.replace(/^\[|\]$/g, ''), { all: true }, resolve);
      });
      if (error instanceof UrlBlockedError) throw error;
    },
    close: () => agent.destroy(),
  };
}

const firstHop = (url: URL, { method = 'GET', headers, body, sink }: RequestOptions): Hop => ({
  url,
  method,
  headers: { 'user-agent': userAgent, 'accept-encoding': sink ? 'identity' : 'gzip, br', ...ownHeaders(headers) },
  body,
});

const send = (
  agent: Agent,
  { url, method, headers, body }: Hop,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> =>
  agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method: method as Dispatcher.HttpMethod,
    headers,
    body,
    signal,
  });

/** Reads the answer; the body of a success goes into the sink where there is one. */
async function read(
  answer: Dispatcher.ResponseData,
  method: string,
  maxBytes: number,
  sinkOfSuccess: RequestOptions['sink'],
): Promise<HttpResponse> {
  // An answer to HEAD announces a body that does not come.
  const announced = method === 'HEAD' ? 0 : Number(answer.headers['content-length'] ?? 0);
  const sink = answer.statusCode >= 200 && answer.statusCode < 300 ? sinkOfSuccess : undefined;
  if (sink) mustBePlain(answer);
  const received = await readBody(answer.body, announced, maxBytes, sink);
  return response(answer, await decodeBody(received, answer.headers['content-encoding'], maxBytes));
}

/** Rejects when the signal does: undici heeds it only once it is connected, and a look-up or connection may hang. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const promise = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  promise.catch(() => undefined);
  return promise;
}

/** Looks up all addresses, refuses if any is not allowed, and hands exactly the checked ones to the socket. */
function guardedLookup(lookup: LookupFunction, allowCidrs: readonly Cidr[]): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '');
      const addresses = found as LookupAddress[];
      try {
        checkAddresses(host, addresses, allowCidrs);
      } catch (blocked) {
        return callback(blocked as Error, '');
      }
      const [first] = addresses;
      if (options.all || first === undefined) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

function response({ statusCode, headers }: Dispatcher.ResponseData, body: Buffer): HttpResponse {
  const text = () => body.toString('utf8');
  return {
    status: statusCode,
    headers,
    body,
    text,
    json() {
      try {
        return JSON.parse(text()) as unknown;
      } catch (error) {
        throw new UpstreamError('decode', 'The response is not JSON', error);
      }
    },
  };
}

interface Hop {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** The caller's header fields in lower case, without those that would change who is spoken to or how. */
function ownHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(entries.filter(([name]) => !clientsOwn.test(name)));
}

/**
 * The request that follows an answer, or undefined when it is not a redirect. Throws `UpstreamError` (`redirect`) when
 * a body would be carried to another origin: it may hold secrets just as header fields do.
 */
function nextHop(hop: Hop, status: number, location: string | string[] | undefined): Hop | undefined {
  if (!redirects.has(status) || typeof location !== 'string') return undefined;
  const url = URL.parse(location, hop.url.href);
  if (url === null) throw new UpstreamError('redirect', 'The redirect does not name a URL');
  const sameOrigin = url.origin === hop.url.origin;
  const becomesGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST';
  const body = becomesGet ? undefined : hop.body;
  if (body !== undefined && !sameOrigin) {
    throw new UpstreamError('redirect', 'A redirect would carry the request body to another origin');
  }
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (sameOrigin || harmless.test(name)) && !(becomesGet && name.startsWith('content-')),
  );
  return { url, method: becomesGet ? 'GET' : hop.method, headers: Object.fromEntries(kept), body };
}

/** Maps any failure of a request to `UpstreamError`; errors of the guard pass through. */
function toUpstreamError(error: unknown, timedOut: boolean, aborted: boolean): Error {
  if (error instanceof UrlBlockedError || error instanceof UpstreamError) return error;
  if (aborted) return new UpstreamError('aborted', 'The request was given up', error);
  const code = codeOf(error);
  if (timedOut || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return new UpstreamError('timeout', 'The other side did not answer in time', error);
  }
  const reason = reasonOf(code);
  return new UpstreamError(reason, sayings[reason], error);
}

function reasonOf(code: string): keyof typeof sayings {
  if (/^(ENOTFOUND|EAI_|ENODATA)/.test(code)) return 'dns';
  if (/^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH)/.test(code)) return 'tls';
  if (/^(UND_ERR_INVALID_ARG|ERR_INVALID|UND_ERR_REQ_CONTENT)/.test(code)) return 'request';
  return 'network';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
