/** Quiet hours of a channel, by the clock of their zone. */
import { DAYS, type QuietHours } from '../../models/channel.ts';
import type { Severity } from '../../models/message.ts';

const DAY = 24 * 60;
const minutesOf = (clock: string): number => {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number);
  return hours * 60 + minutes;
};

/** Day of the week (0 is Monday) and minute of the day there. */
function localOf(at: Date, timeZone: string): { day: number; minute: number } {
  const parts = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  const day = (DAYS as readonly string[]).indexOf(part('weekday').toLowerCase());
  return { day, minute: Number(part('hour')) * 60 + Number(part('minute')) };
}

/**
 * When the quiet hours that hold now are over; null outside of them. In a night in which clocks change it may be an hour
 * off: the message is then checked again and waits once more.
 */
export function quietUntil(quiet: QuietHours | null, severity: Severity, now: Date): Date | null {
  if (!quiet || (quiet.exceptCritical && severity === 'critical')) return null;
  const { day, minute } = localOf(now, quiet.timezone);
  const [start, end] = [minutesOf(quiet.start), minutesOf(quiet.end)];
  const begins = (on: number) => quiet.days.includes(DAYS[(on + 7) % 7] ?? 'mon');
  const over = end <= start;
  const sinceToday = begins(day) && minute >= start && (over || minute < end);
  const sinceYesterday = over && begins(day - 1) && minute < end;
  if (start === end || (!sinceToday && !sinceYesterday)) return null;
  const left = (end - minute + DAY) % DAY;
  return new Date(Math.floor(now.getTime() / 60_000) * 60_000 + left * 60_000);
}
