/** One HTTP call, the way an integrator makes it. */
import { throughProxy } from './document-proxy.ts';

export interface CallOptions {
  token?: string;
  apiKey?: string;
  body?: unknown;
  headers?: Record<string, string>;
}
export interface Called<B> {
  status: number;
  body: B;
  headers: Headers;
}
export interface ErrorBody {
  error: { code: string; message: string; details: { in?: string; path?: string; message?: string }[] };
}

/** @param path below /api/v1, or from the host's root when it begins with `//`. */
export async function call<B>(
  base: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Called<B>> {
  const { token, apiKey, body, headers } = options;
  // The proxy knows only the operations of the document.
  const proxy = path.startsWith('//') || path === '/openapi.json' ? undefined : process.env.QUARTERMASTER_TEST_PROXY;
  const direct = path.startsWith('//') ? base + path.slice(1) : `${base}/api/v1${path}`;
  const at = proxy ? throughProxy(proxy, base, path) : { url: direct, headers: {} };
  const response = await fetch(at.url, {
    method,
    // A redirect is an answer that tests check.
    redirect: 'manual',
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(apiKey ? { 'x-api-key': apiKey } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
      ...at.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const type = response.headers.get('content-type');
  if (type?.includes('event-stream')) {
    // The stream does not end.
    await response.body?.cancel();
    return { status: response.status, body: '' as B, headers: response.headers };
  }
  const text = await response.text();
  const json = text !== '' && type?.includes('json') && !type.includes('ndjson');
  return { status: response.status, body: (json ? JSON.parse(text) : text) as B, headers: response.headers };
}
