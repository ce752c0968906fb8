/** When a message that failed is tried again. */

/** Share by which delays vary, so that messages that failed together are not sent again together. */
const JITTER = 0.2;
const MAX_DELAY_SECONDS = 86_400;

/**
 * Seconds to wait after attempt `attempt` (from 1): the queue's delay, give or take 20 %, or what the receiver asks for where that
 * is longer, up to a day.
 * @param delays seconds after the first, second, … attempt
 */
export function retryDelay(
  delays: readonly number[],
  attempt: number,
  retryAfter: number | null,
  random = Math.random,
): number {
  const plain = delays[Math.min(attempt, delays.length) - 1] ?? MAX_DELAY_SECONDS;
  const varied = plain * (1 + JITTER * (2 * random() - 1));
  return Math.max(varied, Math.min(retryAfter ?? 0, MAX_DELAY_SECONDS));
}
