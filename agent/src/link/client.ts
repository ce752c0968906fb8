/** Sends HTTP requests to the server and turns every error response into one kind of error. */
import type { IncomingMessage } from 'node:http';
import { send, textOf } from './http.ts';

/** The server answered, but not with success: `code` and `message` come from the error envelope. */
export class RefusedError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: unknown;
  /** From Retry-After; 0 when the server named none. */
  readonly retryAfterMs: number;

  constructor(status: number, code: string, message: string, details: unknown, retryAfterMs: number) {
    super(message);
    this.name = 'RefusedError';
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No usable answer came: network fault, time-out, or a body that is not JSON. */
export class UnreachableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreachableError';
  }
}

export interface CallOptions {
  token?: string;
  headers?: Record<string, string>;
  body?: unknown;
  signal?: AbortSignal;
}

export type Call = <T>(method: 'GET' | 'POST' | 'PUT', path: string, options?: CallOptions) => Promise<T>;

/** The API base of a `--server` value; throws a plain sentence when it is not an http(s) address. */
export function apiBase(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error(`"${server}" is not an http(s) address.`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`;
}

/** A caller bound to one server. Redirects are errors: a token must not travel to another host. */
export function createClient(server: string, timeoutMs: number): Call {
  const base = apiBase(server);
  return async <T>(method: 'GET' | 'POST' | 'PUT', path: string, options: CallOptions = {}): Promise<T> => {
    const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
    if (options.token) headers.authorization = `Bearer ${options.token}`;
    if (options.body !== undefined) headers['content-type'] = 'application/json';
    const body = options.body === undefined ? undefined : JSON.stringify(options.body);
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([timeout, options.signal]) : timeout;
    let response: IncomingMessage;
    let text: string;
    try {
      response = await send(`${base}${path}`, { method, headers, body, signal });
      text = await textOf(response, signal);
    } catch (fault) {
      throw new UnreachableError(`${base} did not answer: ${reasonOf(fault)}`);
    }
    const status = response.statusCode ?? 0;
    if (status >= 300 && status < 400) throw new UnreachableError(`${base} sends its callers elsewhere`);
    const answer = parse(text);
    if (status < 200 || status >= 400)
      throw refusedBy(status, response.statusMessage ?? '', response.headers['retry-after'], text);
    if (answer === undefined && text !== '') throw new UnreachableError(`${base} did not answer with JSON`);
    return (answer ?? {}) as T;
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error for a response: its status, `Retry-After` in seconds, and its body with the error envelope. */
export function refusedBy(status: number, phrase: string, retryAfter: string | undefined, text: string): RefusedError {
  const answer = parse(text) as { error?: { code?: unknown; message?: unknown; details?: unknown } } | null | undefined;
  const error = answer?.error;
  const seconds = Number(retryAfter);
  return new RefusedError(
    status,
    typeof error?.code === 'string' ? error.code : `HTTP_${status}`,
    typeof error?.message === 'string' ? error.message : `HTTP ${status} ${phrase}`,
    error?.details,
    Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) * 1000 : 0,
  );
}

function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return 'code' in fault && typeof fault.code === 'string' ? fault.code : fault.message;
}
