/** Delays between attempts to deliver a notification. */
import { retryDelay } from '#core';

/** Seconds after the first, second, … attempt. */
const DELAYS = [30, 120, 600, 1800, 7200];
export const MOST_ATTEMPTS = DELAYS.length + 1;

/** Seconds to wait after attempt `attempt` (from 1). */
export const delayAfter = (attempt: number, retryAfter: number | null, random = Math.random): number =>
  retryDelay(DELAYS, attempt, retryAfter, random);
