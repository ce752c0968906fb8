/** Recurrences over changes of clocks, against a second way to find them: a walk over every minute. */

import test from 'ava';
import Joi from 'joi';
import { nextOccurrence, nextOccurrences, type Recurrence, recurrence } from '../index.ts';
import { wallTimeOf } from '../wall-times.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ZONES = [
  ...['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca'],
  ...['America/Santiago', 'Asia/Tehran', 'Antarctica/Troll', 'Asia/Kathmandu', 'America/St_Johns'],
];
/** Apia left out a day, Tehran gave up changing, Lord Howe changes by half an hour, Troll by two hours. */
const YEARS = [2011, 2021] as const;

/** Instants at which the offset of a zone changes, to the minute. */
function changesOf(zone: string): number[] {
  const offset = (at: number) => wallTimeOf(at, zone) - at;
  const found: number[] = [];
  for (let day = Date.UTC(YEARS[0], 0, 1); day < Date.UTC(YEARS[1], 0, 1); day += DAY) {
    if (offset(day) === offset(day + DAY)) continue;
    let [low, high] = [day, day + DAY];
    while (high - low > MINUTE) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE) * MINUTE;
      if (offset(middle) === offset(day)) low = middle;
      else high = middle;
    }
    found.push(high);
  }
  return found;
}

/** The second way: a clock is watched minute by minute; what it shows for the first time, or jumps over, is due. */
function walk(fits: (wall: number) => boolean, zone: string, from: number, to: number): number[] {
  const found: number[] = [];
  let highest = wallTimeOf(from - 3 * DAY, zone);
  for (let at = from - 3 * DAY + MINUTE; at <= to; at += MINUTE) {
    const wall = wallTimeOf(at, zone);
    if (wall <= highest) continue;
    let due = false;
    for (let passed = highest + MINUTE; passed <= wall; passed += MINUTE) due ||= fits(passed);
    highest = wall;
    if (due && at > from) found.push(at);
  }
  return found;
}

const at = (hour: number, minute: number) => (wall: number) =>
  new Date(wall).getUTCHours() === hour && new Date(wall).getUTCMinutes() === minute;
/** Each with what it means, said another way. */
const CASES: [Recurrence, (wall: number) => boolean][] = [
  [{ cron: '30 2 * * *' }, at(2, 30)],
  [{ cron: '*/15 * * * *' }, (wall) => new Date(wall).getUTCMinutes() % 15 === 0],
  [{ frequency: 'daily', time: '00:00' }, at(0, 0)],
  [
    { frequency: 'weekly', time: '01:45', daysOfWeek: [0, 6] },
    (wall) => at(1, 45)(wall) && new Date(wall).getUTCDay() % 6 === 0,
  ],
  [{ rrule: 'FREQ=HOURLY;INTERVAL=1', start: '2010-01-01T00:20' }, (wall) => new Date(wall).getUTCMinutes() === 20],
];

for (const zone of ZONES) {
  test(`in ${zone} nothing is left out and nothing comes twice when clocks change, over ten years`, (t) => {
    t.timeout(120_000);
    const changes = changesOf(zone);
    // Those of each kind in each year would be the same again: the first and last years, and all that are odd.
    for (const change of [...changes.slice(0, 4), ...changes.slice(-2)]) {
      const [from, to] = [change - DAY, change + DAY];
      for (const [given, fits] of CASES) {
        const wanted = walk(fits, zone, from, to).map((when) => new Date(when).toISOString());
        const found = nextOccurrences(given, zone, new Date(from), wanted.length + 1).filter((when) => +when <= to);
        t.deepEqual(
          found.map((when) => when.toISOString()),
          wanted,
          `${JSON.stringify(given)} around ${new Date(change).toISOString()}`,
        );
      }
    }
    t.true(zone === 'Asia/Kathmandu' ? changes.length === 0 : changes.length > 0);
  });
}

const times = (given: Recurrence, zone: string, after: string, count: number) =>
  nextOccurrences(given, zone, new Date(after), count).map((when) => when.toISOString());

test('a time that clocks jump over comes at the jump, and one that they show twice comes once', (t) => {
  const given = { frequency: 'daily', time: '02:30' } as const;
  t.deepEqual(times(given, 'Europe/Berlin', '2026-03-28T12:00:00Z', 2), [
    '2026-03-29T01:00:00.000Z',
    '2026-03-30T00:30:00.000Z',
  ]);
  t.deepEqual(times(given, 'Europe/Berlin', '2026-10-24T12:00:00Z', 2), [
    '2026-10-25T00:30:00.000Z',
    '2026-10-26T01:30:00.000Z',
  ]);
});

test('plain recurrences: last days of months, weekdays of months with days after, every second week', (t) => {
  const from = '2026-01-15T00:00:00Z';
  t.deepEqual(times({ frequency: 'monthly', time: '09:00', dayOfMonth: 31 }, 'UTC', from, 3), [
    ...['2026-01-31T09:00:00.000Z', '2026-02-28T09:00:00.000Z', '2026-03-31T09:00:00.000Z'],
  ]);
  t.deepEqual(times({ frequency: 'monthly', time: '09:00', dayOfMonth: -1 }, 'UTC', from, 2), [
    ...['2026-01-31T09:00:00.000Z', '2026-02-28T09:00:00.000Z'],
  ]);
  t.deepEqual(
    times({ frequency: 'monthly', time: '03:00', nthWeekday: { n: 2, day: 2 }, offsetDays: 3 }, 'UTC', from, 2),
    ['2026-01-16T03:00:00.000Z', '2026-02-13T03:00:00.000Z'],
  );
  t.deepEqual(
    times({ frequency: 'weekly', time: '08:00', daysOfWeek: [1], interval: 2, start: '2026-01-05' }, 'UTC', from, 2),
    ['2026-01-19T08:00:00.000Z', '2026-02-02T08:00:00.000Z'],
  );
});

test('a rule ends by COUNT and by UNTIL', (t) => {
  const start = '2026-01-01T10:00';
  t.is(times({ rrule: 'FREQ=DAILY;COUNT=3', start }, 'Asia/Tokyo', '2025-12-01T00:00:00Z', 9).length, 3);
  t.is(times({ rrule: 'FREQ=DAILY;UNTIL=20260105T100000', start }, 'Asia/Tokyo', '2025-12-01T00:00:00Z', 9).length, 5);
  t.is(nextOccurrence({ rrule: 'FREQ=DAILY;COUNT=3', start }, 'UTC', new Date('2027-01-01')), null);
});

const schema = Joi.object({ recurrence: recurrence(5).required() });
const WRONG: [string, object, RegExp][] = [
  ['nothing', {}, /recurrence.*must contain at least one of/],
  ['two kinds', { cron: '0 0 * * *', frequency: 'daily', time: '09:00' }, /conflict between exclusive peers/],
  ['a cron line of six fields', { cron: '0 0 0 * * *' }, /recurrence.* is not valid/],
  ['a line that fits no date', { cron: '0 0 30 2 *' }, /never comes round/],
  ['a line of each minute', { cron: '* * * * *' }, /more often than every 5 minutes/],
  ['minutes that meet over the hour', { cron: '0,58 * * * *' }, /more often than every 5 minutes/],
  ['a rule of seconds', { rrule: 'FREQ=SECONDLY', start: '2026-01-05T09:00' }, /rrule.*not supported: FREQ=SECONDLY/],
  ['a rule without its start', { rrule: 'FREQ=DAILY' }, /missing required peer "start"/],
  ['a rule with a part twice', { rrule: 'FREQ=DAILY;FREQ=WEEKLY', start: '2026-01-05T09:00' }, /more than once/],
  ['a rule that has ended', { rrule: 'FREQ=DAILY;COUNT=2', start: '2020-01-05T09:00' }, /never comes round/],
  [
    'a rule that fits no date',
    { rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', start: '2020-01-05T09:00' },
    /never comes round/,
  ],
  ['no time', { frequency: 'daily' }, /missing required peer "time"/],
  ['a time of no clock', { frequency: 'daily', time: '24:00' }, /time/],
  ['days of the week in a month', { frequency: 'monthly', time: '09:00', daysOfWeek: [1] }, /daysOfWeek.*not allowed/],
  ['day zero', { frequency: 'monthly', time: '09:00', dayOfMonth: 0 }, /dayOfMonth/],
];
for (const [name, given, reason] of WRONG) {
  test(`what cannot be scheduled is refused with its reason: ${name}`, (t) => {
    t.regex(schema.validate({ recurrence: given }).error?.message ?? '', reason);
  });
}
