/** Corrects times of devices whose clock is wrong. */

const MAX_AHEAD_MS = 600_000;
/** Number of days for which a machine with a right clock may have been offline. */
const MAX_BEHIND_MS = 30 * 86_400_000;
/** The years 1 to 9999, which both the database and ISO 8601 support. */
const FIRST = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

export interface Instant {
  /** ISO 8601. */
  at: string;
  /** The reported time, ISO 8601; equal to `at` when it is plausible. */
  said: string;
}

/**
 * The time of arrival replaces a time that is more than ten minutes ahead or thirty days behind. Such entries of one body keep
 * their order, a millisecond apart.
 */
export function clockOf(count: number, now = Date.now()): (time: Date | string, index: number) => Instant {
  return (time, index) => {
    const ms = typeof time === 'string' ? Date.parse(time) : time.getTime();
    const said = new Date(Math.min(LAST_MS, Math.max(FIRST, ms))).toISOString();
    if (ms <= now + MAX_AHEAD_MS && ms >= now - MAX_BEHIND_MS) return { at: said, said };
    return { at: new Date(now - (count - 1 - index)).toISOString(), said };
  };
}
