/** When a schedule comes round: the moment before and the moment after a given one. */
import { type ParsedCronItem, parseCronItem } from 'graphile-worker';
import type { Schedule } from '../contract/index.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** Days that are looked through: four years, for schedules that wait for a 29 February. */
const MAX_DAYS = 4 * 366;

function matches(item: ParsedCronItem, at: Date): boolean {
  return item.match({
    min: at.getUTCMinutes(),
    hour: at.getUTCHours(),
    date: at.getUTCDate(),
    month: at.getUTCMonth() + 1,
    dow: at.getUTCDay(),
  });
}

/** The last moment at or before `now`, and the next one after it; null where there is none within four years. */
export function momentsAround(schedule: Schedule, now: Date): { last: Date | null; next: Date | null } {
  if ('every' in schedule) {
    const step = schedule.every * 1000;
    const last = Math.floor(now.getTime() / step) * step;
    return { last: new Date(last), next: new Date(last + step) };
  }
  const item = parseCronItem({ task: 'core/start', match: schedule.cron });
  const day = parseCronItem({
    task: 'core/start',
    match: `* * ${schedule.cron.trim().split(/\s+/).slice(2).join(' ')}`,
  });
  const minute = Math.floor(now.getTime() / MINUTE) * MINUTE;
  return { last: find(item, day, minute, -1), next: find(item, day, minute + MINUTE, 1) };
}

/** The first minute that matches, looking forward or back; days that do not match are passed over whole. */
function find(item: ParsedCronItem, day: ParsedCronItem, from: number, step: 1 | -1): Date | null {
  let at = from;
  for (let days = 0; days < MAX_DAYS; days++) {
    const begin = Math.floor(at / DAY) * DAY;
    if (matches(day, new Date(at))) {
      for (; at >= begin && at < begin + DAY; at += step * MINUTE) if (matches(item, new Date(at))) return new Date(at);
    }
    at = step > 0 ? begin + DAY : begin - MINUTE;
  }
  return null;
}
