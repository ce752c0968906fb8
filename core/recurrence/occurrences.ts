/** When a recurrence comes round. */
import { RRuleTemporal } from 'rrule-temporal';
import { momentsAround } from '../jobs/cron-times.ts';
import type { PlainRecurrence, Recurrence, RuleRecurrence } from './kinds.ts';
import { instantOf, wallTimeOf } from './wall-times.ts';

const DAY = 86_400_000;
/** A Monday and the first of a month: from here intervals are counted that name no start. */
const BEGINNING = '2007-01-01';
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
/** Wall times that are looked at for one instant; a clock that is put back shows many of them again. */
const MAX_STEPS = 2_000;

/**
 * The first instant after `after` at which it comes round; null where there is none. A time that does not exist because clocks are put
 * forward is taken at the moment at which they are; one that comes twice is taken the first time.
 * @param zone of the IANA database
 */
export function nextOccurrence(recurrence: Recurrence, zone: string, after: Date): Date | null {
  let wall = wallTimeOf(after.getTime(), zone);
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = nextWallTime(recurrence, wall);
    if (next === null) return null;
    const instant = instantOf(next, zone);
    if (instant > after.getTime()) return new Date(instant);
    wall = next;
  }
  return null;
}

/** The next instants, at most `count`; fewer where it ends. Two wall times that fall on one instant are one. */
export function nextOccurrences(recurrence: Recurrence, zone: string, after: Date, count: number): Date[] {
  const found: Date[] = [];
  for (let at: Date | null = after; found.length < count; found.push(at)) {
    at = nextOccurrence(recurrence, zone, at);
    if (!at) break;
  }
  return found;
}

/** Wall times from `after` on. Throws for a rule or line that is not valid. */
export function firstWallTimes(recurrence: Recurrence, after: number, count: number): number[] {
  const found: number[] = [];
  for (let wall = after; found.length < count; found.push(wall)) {
    const next = nextWallTime(recurrence, wall);
    if (next === null) break;
    wall = next;
  }
  return found;
}

/** @param wall as in wall-times.ts */
function nextWallTime(recurrence: Recurrence, wall: number): number | null {
  if ('cron' in recurrence) return momentsAround(recurrence, new Date(wall)).next?.getTime() ?? null;
  if ('rrule' in recurrence) return nextOfRule(recurrence, wall);
  const days = recurrence.offsetDays ?? 0;
  const next = nextOfRule(ruleOf(recurrence), wall - days * DAY);
  return next === null ? null : next + days * DAY;
}

function nextOfRule({ rrule, start }: RuleRecurrence, wall: number): number | null {
  const from = `${start.replaceAll(/[-:]/g, '')}00`;
  // As all times of the rule, its end is one of the wall; the last day counts whole.
  const ending = rrule.replace(/UNTIL=(\d{8})(T\d{6})?Z?/, (_, day, time = 'T235959') => `UNTIL=${day}${time}Z`);
  const rule = new RRuleTemporal({ rruleString: `DTSTART;TZID=UTC:${from}\nRRULE:${ending}` });
  try {
    return rule.next(new Date(wall))?.epochMilliseconds ?? null;
  } catch (error) {
    // The library gives up on a rule that fits no date.
    if (/Maximum iterations/.test((error as Error).message)) return null;
    throw error;
  }
}

function ruleOf({ frequency, time, interval = 1, start = BEGINNING, ...which }: PlainRecurrence): RuleRecurrence {
  const parts = [`FREQ=${frequency.toUpperCase()}`, `INTERVAL=${interval}`, ...daysOf(which)];
  return { rrule: parts.join(';'), start: `${start}T${time}` };
}

function daysOf({ daysOfWeek, dayOfMonth, nthWeekday }: Partial<PlainRecurrence>): string[] {
  if (daysOfWeek) return [`BYDAY=${daysOfWeek.map((day) => WEEKDAYS[day]).join(',')}`, 'WKST=MO'];
  if (nthWeekday) return [`BYDAY=${nthWeekday.n}${WEEKDAYS[nthWeekday.day]}`];
  if (dayOfMonth === undefined) return [];
  if (dayOfMonth <= 28) return [`BYMONTHDAY=${dayOfMonth}`];
  const days = Array.from({ length: dayOfMonth - 27 }, (_, index) => 28 + index);
  return [`BYMONTHDAY=${days}`, 'BYSETPOS=-1'];
}
