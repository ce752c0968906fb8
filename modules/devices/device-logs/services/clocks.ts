/** Sets right the times that a wrong clock gave. */

const AHEAD_MS = 600_000;
/** Days in which a machine may have been away from the network with a right clock. */
const BEHIND_MS = 30 * 86_400_000;
/** The years 1 to 9999: what the database and ISO 8601 both can say. */
const FIRST = -62_135_596_800_000;
const LAST = 253_402_300_799_999;

export interface Instant {
  /** ISO 8601. */
  at: string;
  /** What the device said, ISO 8601; equal to `at` when its clock can be right. */
  said: string;
}

/**
 * A time more than ten minutes ahead or thirty days behind is not plausible: the time of arrival replaces it. Such
 * entries of one body keep their order, a millisecond apart.
 */
export function clockOf(count: number, now = Date.now()): (time: Date | string, index: number) => Instant {
  return (time, index) => {
    const ms = typeof time === 'string' ? Date.parse(time) : time.getTime();
    const said = new Date(Math.min(LAST, Math.max(FIRST, ms))).toISOString();
    if (ms <= now + AHEAD_MS && ms >= now - BEHIND_MS) return { at: said, said };
    return { at: new Date(now - (count - 1 - index)).toISOString(), said };
  };
}
