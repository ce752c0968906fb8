/** The rate limits a route declares, counted in sliding windows after validation, and the header fields that tell of them. */
import type { AnyRoute, Input } from '../../contract/index.ts';
import type { Counters, Hit } from '../../counters/counters.ts';
import { RateLimited, Unavailable } from '../../errors.ts';

/**
 * `RateLimit` and `RateLimit-Policy` as lists of structured fields (RFC 9651, draft-ietf-httpapi-ratelimit-headers), with what
 * stands there already.
 */
export function rateLimitFields(
  name: string,
  { limit, remaining, resetAt }: Pick<Hit, 'limit' | 'remaining' | 'resetAt'>,
  windowSeconds: number,
  before: Record<string, string> = {},
): Record<string, string> {
  const wait = Math.max(0, resetAt - Math.floor(Date.now() / 1000));
  const member = (one: string, text: string | undefined) => (text ? `${text}, ${one}` : one);
  return {
    ...before,
    ratelimit: member(`"${name}";r=${remaining};t=${wait}`, before.ratelimit),
    'ratelimit-policy': member(`"${name}";q=${limit};w=${windowSeconds}`, before['ratelimit-policy']),
  };
}

/**
 * Throws 429 with Retry-After, or 503 where the route refuses without a counter store.
 * @param before header fields of the caller's own limit
 * @returns them together with those of the route's limits
 */
export async function checkLimits(
  counters: Counters,
  route: AnyRoute,
  input: Input,
  who: { ip: string; actorId: string | null },
  before: Record<string, string>,
): Promise<Record<string, string>> {
  let headers = before;
  for (const limit of route.limits ?? []) {
    const by = limit.by === 'ip' ? who.ip : limit.by === 'actor' ? (who.actorId ?? who.ip) : limit.by(input, who.ip);
    const hit = await counters.hit(`${limit.name}:${by}`, limit.max, limit.windowSeconds).catch((error: Error) => {
      if (limit.whenAway === 'refuse')
        throw Unavailable({ message: 'The counter store is not reachable', headers: { 'retry-after': '5' } });
      if (error.name !== 'CountersUnavailableError') throw error;
      return null;
    });
    if (!hit) continue;
    headers = rateLimitFields(limit.name, hit, limit.windowSeconds, headers);
    if (!hit.allowed) {
      const retryAfter = Math.max(1, hit.retryAfterSeconds);
      throw RateLimited({
        ...(limit.message ? { message: limit.message } : {}),
        beside: { retryAfter },
        headers: { ...headers, 'retry-after': String(retryAfter) },
      });
    }
  }
  return headers;
}
