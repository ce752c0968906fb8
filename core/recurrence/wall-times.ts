/**
 * Times as a clock on the wall shows them, and the instants at which it does. A wall time is written as the milliseconds that it
 * would be in UTC, so that rules can be evaluated without a zone.
 */
const HOUR = 3_600_000;
/** No zone is further from UTC than this. */
const FARTHEST = 15 * HOUR;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError for a zone that is not known. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', calendar: 'gregory', numberingSystem: 'latn' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  formats.set(zone, made);
  return made;
}

/** What a clock there shows at the instant, to the second. */
export function wallTimeOf(instant: number, zone: string): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

const offsetOf = (instant: number, zone: string): number =>
  wallTimeOf(instant, zone) - Math.floor(instant / 1_000) * 1_000;

/** The first instant at which a clock there shows the time; where it never does, the moment at which it jumps over it. */
export function instantOf(wall: number, zone: string): number {
  const [before, after] = [offsetOf(wall - FARTHEST, zone), offsetOf(wall + FARTHEST, zone)];
  const shown = [before, after].map((offset) => wall - offset).filter((at) => wallTimeOf(at, zone) === wall);
  if (shown.length > 0) return Math.min(...shown);
  // Between the two, the clock passes from below the time to above it.
  let [low, high] = [wall - FARTHEST, wall + FARTHEST];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (wallTimeOf(middle, zone) < wall) low = middle;
    else high = middle;
  }
  return high;
}
