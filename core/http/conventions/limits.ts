/** The rate limits a route declares, counted in sliding windows after validation, and the header fields that tell of them. */
import type { Services } from '../../context/index.ts';
import type { AnyRoute, Input, Limit } from '../../contract/index.ts';
import type { Counters, Hit } from '../../counters/counters.ts';
import { sourceOf } from '../../counters/source.ts';
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
  services: { counters: Counters } & Pick<Services, 'mac'>,
  limits: AnyRoute['limits'],
  input: Input,
  who: { ip: string; actorId: string | null },
  before: Record<string, string>,
): Promise<Record<string, string>> {
  let headers = before;
  for (const limit of limits ?? []) {
    const by = countedBy(services, limit, input, who);
    if (by === null) continue;
    const hit = await count(services.counters, limit, `${limit.name}:${by}`);
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

function countedBy(
  services: Pick<Services, 'mac'>,
  { by }: Limit,
  input: Input,
  { ip, actorId }: { ip: string; actorId: string | null },
): string | null {
  const source = sourceOf(ip);
  if (by === 'ip') return source;
  return by === 'actor' ? (actorId ?? source) : by(input, source, services);
}

function count(counters: Counters, { max, windowSeconds, whenAway }: Limit, key: string): Promise<Hit> {
  return counters.hit(key, max, windowSeconds).catch((error: Error) => {
    if (whenAway === 'refuse')
      throw Unavailable({ message: 'The counter store is not reachable', headers: { 'retry-after': '5' } });
    if (error.name !== 'CountersUnavailableError') throw error;
    return counters.local.hit(key, max, windowSeconds);
  });
}
