/** How often something comes round, as the API takes it: a cron line, a rule of RFC 5545, or a plain frequency. */

export interface CronRecurrence {
  /** Five fields: minute, hour, day of month, month, day of week. */
  cron: string;
}
export interface RuleRecurrence {
  /** A recurrence rule of RFC 5545 without its name: `FREQ=WEEKLY;BYDAY=MO`. */
  rrule: string;
  /** Its first time, as a clock in the zone shows it: `2026-01-05T09:00`. */
  start: string;
}
export interface PlainRecurrence {
  frequency: 'daily' | 'weekly' | 'monthly';
  /** `09:30`, as a clock in the zone shows it. */
  time: string;
  /** Every second, third … day, week or month. */
  interval?: number;
  /** 0 is Sunday. */
  daysOfWeek?: number[];
  /** -1 is the last; in months that are too short the last day stands for 29 to 31. */
  dayOfMonth?: number;
  /** The second Tuesday is `{ n: 2, day: 2 }`; -1 is the last. */
  nthWeekday?: { n: number; day: number };
  /** Days after the day that the rest names. */
  offsetDays?: number;
  /** The date from which intervals are counted: `2026-01-05`. */
  start?: string;
}
export type Recurrence = CronRecurrence | RuleRecurrence | PlainRecurrence;
