/** The schema of recurrences. */
import Joi from 'joi';
import { onlyWhere } from '../only-where.ts';
import type { Recurrence } from './kinds.ts';
import { firstWallTimes } from './occurrences.ts';

/** Occurrences whose distances are looked at. */
const LOOKED_AT = 100;
const MINUTE = 60_000;
const PARTS =
  /^(FREQ=(HOURLY|DAILY|WEEKLY|MONTHLY|YEARLY)|INTERVAL=[1-9]\d{0,2}|COUNT=[1-9]\d{0,3}|UNTIL=\d{8}(T\d{6}Z?)?|WKST=(MO|SU)|BY(DAY|MONTHDAY|MONTH|SETPOS|HOUR|MINUTE)=[-+0-9A-Z,]{1,100})$/;

const weekday = Joi.number().integer().min(0).max(6);
const onlyIf = <S extends Joi.Schema>(frequency: string, schema: S) =>
  onlyWhere(schema, (around) => around.frequency === frequency);
const withFrequency = <S extends Joi.Schema>(schema: S) =>
  onlyWhere(schema, ({ frequency }) => frequency !== undefined);
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;

const rule = Joi.string()
  .max(300)
  .custom((text: string, helpers) => {
    const parts = text.split(';');
    const wrong = parts.find((part) => !PARTS.test(part));
    if (wrong !== undefined)
      return helpers.message({ custom: `{{#label}} has a part that is not supported: ${wrong}` });
    const names = parts.map((part) => part.slice(0, part.indexOf('=')));
    if (!names.includes('FREQ')) return helpers.message({ custom: '{{#label}} must have FREQ' });
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    return twice ? helpers.message({ custom: `{{#label}} has ${twice} more than once` }) : text;
  });

/**
 * The schema of a recurrence. Refuses what never comes round, and what comes round more often than allowed.
 * @param leastMinutes between two occurrences
 */
export function recurrence(leastMinutes: number): Joi.ObjectSchema<Recurrence> {
  return Joi.object<Recurrence>({
    cron: Joi.string().max(100).description('Five fields: minute, hour, day of month, month, day of week'),
    rrule: rule.description('A rule of RFC 5545: FREQ=WEEKLY;BYDAY=MO'),
    frequency: Joi.string().valid('daily', 'weekly', 'monthly'),
    start: Joi.string()
      .max(16)
      .custom((text: string, helpers) => {
        const [around] = helpers.state.ancestors as { rrule?: string }[];
        if ((around?.rrule === undefined ? DATE : LOCAL).test(text)) return text;
        return helpers.message({
          custom: '{{#label}} must be a date such as 2026-01-05, of a rule with its time: 2026-01-05T09:00',
        });
      })
      .description('The date from which intervals are counted; of a rule its first local date and time'),
    time: withFrequency(Joi.string().pattern(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time such as 09:30')),
    interval: withFrequency(Joi.number().integer().min(1).max(52)),
    daysOfWeek: onlyIf('weekly', Joi.array().items(weekday).min(1).max(7).unique()),
    dayOfMonth: onlyIf('monthly', Joi.number().integer().min(-1).max(31).invalid(0)),
    nthWeekday: onlyIf(
      'monthly',
      Joi.object({ n: Joi.number().integer().min(-1).max(5).invalid(0).required(), day: weekday.required() }),
    ),
    offsetDays: onlyIf('monthly', Joi.number().integer().min(0).max(27)),
  })
    .xor('cron', 'rrule', 'frequency')
    .with('rrule', 'start')
    .with('frequency', 'time')
    .oxor('dayOfMonth', 'nthWeekday')
    .custom((given: Recurrence, helpers) => {
      const times = timesOf(given);
      if (typeof times === 'string') return helpers.message({ custom: `{{#label}} ${times}` });
      const closest = Math.min(...times.slice(1).map((time, index) => time - (times[index] ?? 0)));
      if (closest >= leastMinutes * MINUTE) return given;
      return helpers.message({ custom: `{{#label}} comes round more often than every ${leastMinutes} minutes` });
    });
}

/** Its first wall times, or what is wrong with it. */
function timesOf(given: Recurrence): number[] | string {
  let times: number[];
  try {
    times = firstWallTimes(given, Date.now(), LOOKED_AT);
  } catch (error) {
    return `is not valid: ${(error as Error).message}`;
  }
  return times.length > 0 ? times : 'never comes round';
}
