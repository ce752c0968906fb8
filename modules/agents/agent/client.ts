/** Talks HTTP to the server and turns every refusal into one kind of error. */

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
    const timeout = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers,
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        redirect: 'error',
        signal: options.signal ? AbortSignal.any([timeout, options.signal]) : timeout,
      });
      text = await response.text();
    } catch (fault) {
      throw new UnreachableError(`${base} did not answer: ${reasonOf(fault)}`);
    }
    const answer = parse(text);
    if (!response.ok) throw refusal(response, answer);
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

function refusal(response: Response, answer: unknown): RefusedError {
  const error = (answer as { error?: { code?: unknown; message?: unknown; details?: unknown } } | undefined)?.error;
  const seconds = Number(response.headers.get('retry-after'));
  return new RefusedError(
    response.status,
    typeof error?.code === 'string' ? error.code : `HTTP_${response.status}`,
    typeof error?.message === 'string' ? error.message : `HTTP ${response.status} ${response.statusText}`,
    error?.details,
    Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) * 1000 : 0,
  );
}

function reasonOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const cause = fault.cause;
  if (cause instanceof Error) return ('code' in cause && String(cause.code)) || cause.message;
  return fault.message;
}
