/** When a task of Windows runs, in one short line. */
import type { TaskItem } from '#agent-protocol';
import { numberOf, type Row, textOf } from './powershell.ts';

/** The numbers of the task scheduler for kinds of triggers. */
const TYPES: Record<number, string> = {
  0: 'event',
  1: 'time',
  2: 'daily',
  3: 'weekly',
  4: 'monthly',
  5: 'monthly',
  6: 'idle',
  7: 'registration',
  8: 'boot',
  9: 'logon',
  11: 'session',
};
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = [...Array.from({ length: 31 }, (_, n) => String(n + 1)), 'last'];
const WEEKS = ['first', 'second', 'third', 'fourth', 'last'];

/** The names whose bits are set; the highest of 32 makes a number negative. */
function named(mask: unknown, names: readonly string[]): string[] {
  const bits = numberOf(mask) ?? 0;
  return names.filter((_, n) => (bits >>> n) & 1);
}

export function triggerOf(row: Row): TaskItem['triggers'][number] {
  const type = TYPES[Number(row.type)] ?? 'other';
  const parts = [planOf(type, row), timeOf(row), repetitionOf(row)].filter((part) => part !== '');
  return { type, schedule: parts.join(' ') || type, enabled: row.enabled !== false };
}

function planOf(type: string, row: Row): string {
  const each = (count: unknown, one: string, many: string): string =>
    (numberOf(count) ?? 1) > 1 ? `every ${Number(count)} ${many}` : one;
  switch (type) {
    case 'daily':
      return each(row.days, 'daily', 'days');
    case 'weekly':
      return `${each(row.weeks, 'weekly', 'weeks')} on ${named(row.weekdays, WEEKDAYS).join(', ')}`;
    case 'monthly': {
      const weeks = named(row.weeksOfMonth, WEEKS);
      const days =
        weeks.length > 0
          ? `the ${weeks.join(', ')} ${named(row.weekdays, WEEKDAYS).join(', ')}`
          : `day ${named(row.monthdays, DAYS).join(', ')}`;
      const months = named(row.months, MONTHS);
      return `monthly on ${days}${months.length < 12 ? ` in ${months.join(', ')}` : ''}`;
    }
    case 'time':
      return 'once';
    case 'logon':
      return textOf(row.user) ? `logon of ${String(row.user)}` : 'logon';
    default:
      return type;
  }
}

/** `2025-01-06T03:00:00` is the device's own time; only the clock is of interest where the plan has the days. */
function timeOf(row: Row): string {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(textOf(row.start) ?? '') ?? [];
  if (!clock) return '';
  if (Number(row.type) === 1) return `at ${day} ${clock}`;
  return [2, 3, 4, 5].includes(Number(row.type)) ? `at ${clock}` : '';
}

/** `PT1H30M` reads `1h30m`. */
function repetitionOf(row: Row): string {
  const short = (duration: string): string => duration.replaceAll(/[PT]/g, '').toLowerCase();
  const every = textOf(row.every);
  const delay = textOf(row.delay);
  return [every && `every ${short(every)}`, delay && `after ${short(delay)}`].filter(Boolean).join(' ');
}
