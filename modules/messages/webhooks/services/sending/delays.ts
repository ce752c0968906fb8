/** Delays between attempts to deliver a webhook message. */
import { retryDelay } from '#core';

/** Seconds after the first, second, … attempt; ten attempts take some three days. */
const DELAYS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Seconds to wait after attempt `attempt` (from 1). */
export const delayAfter = (attempt: number, retryAfter: number | null, random = Math.random): number =>
  retryDelay(DELAYS, attempt, retryAfter, random);
