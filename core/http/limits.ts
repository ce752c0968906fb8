/** The rate limits a route declares, counted in sliding windows after validation. */
import type { AnyRoute, Input } from '../contract.ts';
import type { Counters } from '../counters/counters.ts';
import { RateLimited, Unavailable } from '../errors.ts';

/** Throws 429 with Retry-After, or 503 where the route refuses without a counter store. */
export async function checkLimits(
  counters: Counters,
  route: AnyRoute,
  input: Input,
  who: { ip: string; actorId: string | null },
): Promise<void> {
  for (const limit of route.limits ?? []) {
    const by = limit.by === 'ip' ? who.ip : limit.by === 'actor' ? (who.actorId ?? who.ip) : limit.by(input, who.ip);
    const hit = await counters.hit(`${limit.name}:${by}`, limit.max, limit.windowSeconds).catch((error: Error) => {
      if (limit.whenAway === 'refuse')
        throw Unavailable({ message: 'The counter store is not reachable', headers: { 'retry-after': '5' } });
      if (error.name !== 'CountersUnavailableError') throw error;
      return null;
    });
    if (hit && !hit.allowed) {
      const retryAfter = Math.max(1, hit.retryAfterSeconds);
      throw RateLimited({
        ...(limit.message ? { message: limit.message } : {}),
        beside: { retryAfter },
        headers: { 'retry-after': String(retryAfter) },
      });
    }
  }
}
