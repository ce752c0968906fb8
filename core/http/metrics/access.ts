/** Who may read /metrics: callers with the token, and without one only programs on this machine that call directly. */
import { timingSafeEqual } from 'node:crypto';
import { type Headers, isForwarded } from '../client-address.ts';

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
/** A proxy on this machine calls from its loopback address too, and some add nothing but the host that was asked for. */
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

export interface Scrape {
  headers: Headers;
  /** Of the connection. */
  address: string;
  /** Whether connections from this address are those of a trusted proxy. */
  isProxy: boolean;
}

/** @param token as configured; where there is one, callers need it */
export function mayReadMetrics(token: string | undefined, { headers, address, isProxy }: Scrape): boolean {
  const { authorization, host } = headers;
  if (!token) return LOOPBACK.has(address) && !isProxy && !isForwarded(headers) && LOCAL_HOST.test(String(host));
  const given = Buffer.from(String(authorization ?? ''));
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
