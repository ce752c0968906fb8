/** When what failed is tried again: later each time, spread, and not before the other side wants it. */

const JITTER = 0.2;
const LONGEST = 86_400;

/**
 * Seconds to wait after attempt `attempt` (from 1), give or take 20 %: what failed together does not come back together.
 * What the other side asks for counts where it is longer, up to a day.
 * @param delays seconds after the first, second, … attempt
 */
export function retryDelay(
  delays: readonly number[],
  attempt: number,
  retryAfter: number | null,
  random = Math.random,
): number {
  const plain = delays[Math.min(attempt, delays.length) - 1] ?? LONGEST;
  const spread = plain * (1 + JITTER * (2 * random() - 1));
  return Math.max(spread, Math.min(retryAfter ?? 0, LONGEST));
}

/** Seconds that a 429 or 503 asks for by `Retry-After` (RFC 9110), as a number or a date; null for none. */
export function retryAfterOf(status: number, header: string | string[] | undefined, now = Date.now()): number | null {
  if ((status !== 429 && status !== 503) || typeof header !== 'string') return null;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1000);
}
