/** The window of a query, from `30m`, `6h` or `2d`. */
import { errors } from '#core';

const MINUTES: Record<string, number> = { m: 1, h: 60, d: 1440 };
const MAX_MINUTES = 14 * 1440;

/** Throws VALIDATION_ERROR for a window beyond the retention of the history. */
export function minutesOf(window: string): number {
  const minutes = Number(window.slice(0, -1)) * (MINUTES[window.at(-1) ?? ''] ?? 0);
  if (minutes > MAX_MINUTES)
    throw errors.ValidationFailed({
      details: [{ in: 'query', path: 'window', message: 'window is more than the 14 days that are kept' }],
    });
  return minutes;
}
