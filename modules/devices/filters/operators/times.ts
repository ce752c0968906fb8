/** Times and dates. A date alone is its whole day in UTC; "last" is counted back from the clock of the database. */
import type { Operator } from '../models/condition.ts';
import { below, exactly, Fault, type Kind, type Params } from './kind.ts';

/** From `start` until before `end`: a day, or a millisecond, the precision in which times are shown. */
export interface Span {
  start: string;
  end: string;
}
export interface Last {
  amount: number;
  unit: Unit;
}
type Unit = 'minutes' | 'hours' | 'days' | 'weeks' | 'months';
type Moment = Span | { from: Span; to: Span } | Last;

/** Seconds of each unit; months have no fixed length. */
export const SECONDS: Record<Exclude<Unit, 'months'>, number> = {
  minutes: 60,
  hours: 3600,
  days: 86_400,
  weeks: 604_800,
};
const UNITS = [...Object.keys(SECONDS), 'months'];
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/;
const ZONE = /(?:Z|[+-]\d{2}:\d{2})$/;
const CENTURY_IN_MONTHS = 1200;
const CENTURY_IN_SECONDS = 36_525 * 86_400;

function isDay(text: string): boolean {
  const [, year = '', month = '', day = ''] = DAY.exec(text) ?? [];
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const real = at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
  return real && Number(year) >= 1900 && Number(year) <= 2999;
}

/** ISO 8601; a time without a zone is in UTC. Throws Fault. */
export function readSpan(value: unknown): Span {
  if (typeof value !== 'string') throw new Fault('BAD_DATE', 'must be a date string');
  const day = TIME.exec(value)?.[1];
  if (!isDay(day ?? value)) {
    throw new Fault('BAD_DATE', 'must be a date (YYYY-MM-DD) or a time (YYYY-MM-DDTHH:MM:SSZ) from 1900 to 2999');
  }
  const start = day && !ZONE.test(value) ? Date.parse(`${value}Z`) : Date.parse(value);
  return { start: new Date(start).toISOString(), end: new Date(start + (day ? 1 : 86_400_000)).toISOString() };
}

function readLast(value: unknown): Last {
  const { amount, unit } = exactly(value, ['amount', 'unit']);
  if (typeof unit !== 'string' || !UNITS.includes(unit)) {
    throw new Fault('BAD_VALUE', `must be one of ${UNITS.join(', ')}`, '.unit');
  }
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0) {
    throw new Fault('BAD_VALUE', 'must be a number above 0', '.amount');
  }
  if (unit === 'months' && !Number.isInteger(amount)) throw new Fault('BAD_VALUE', 'must be a whole number', '.amount');
  const seconds = amount * (SECONDS[unit as keyof typeof SECONDS] ?? 0);
  if (seconds > CENTURY_IN_SECONDS || (unit === 'months' && amount > CENTURY_IN_MONTHS)) {
    throw new Fault('BAD_VALUE', 'must not be more than a hundred years', '.amount');
  }
  return { amount, unit: unit as Unit };
}

function read(operator: Operator, value: unknown): Moment {
  if (operator === 'withinLast' || operator === 'notWithinLast') return readLast(value);
  if (operator !== 'between') return readSpan(value);
  const ends = exactly(value, ['from', 'to']);
  const from = below('.from', () => readSpan(ends.from));
  const to = below('.to', () => readSpan(ends.to));
  if (from.start > to.start) throw new Fault('BAD_DATE', 'must not be after to', '.from');
  return { from, to };
}

/** The time so long ago, in UTC regardless of the time zone of the session; in a shorter month, its last day. */
function ago({ amount, unit }: Last, params: Params): string {
  if (unit !== 'months') return `now() - make_interval(secs => ${params.add(amount * SECONDS[unit], 'float8')})`;
  return `((now() at time zone 'utc') - make_interval(months => ${params.add(amount, 'int')})) at time zone 'utc'`;
}

const RELATIVE = ['withinLast', 'notWithinLast'] as const;

export const datetime: Kind<Moment> = {
  operators: ['equals', 'notEquals', 'before', 'after', 'between', ...RELATIVE, 'isNull', 'isNotNull'],
  read,
  test(operator, expression, value, params) {
    if ('unit' in value) return `(${expression} >= ${ago(value, params)} and ${expression} <= now())`;
    const { from, to } = 'from' in value ? value : { from: value, to: value };
    if (operator === 'before') return `${expression} < ${params.add(from.start, 'timestamptz')}`;
    if (operator === 'after') return `${expression} >= ${params.add(from.end, 'timestamptz')}`;
    const start = params.add(from.start, 'timestamptz');
    return `(${expression} >= ${start} and ${expression} < ${params.add(to.end, 'timestamptz')})`;
  },
};

const DAY_SIGNS: Partial<Record<Operator, string>> = {
  equals: '=',
  before: '<',
  lessThan: '<',
  lessThanOrEquals: '<=',
  after: '>',
  greaterThan: '>',
  greaterThanOrEquals: '>=',
};
const dayOf = (moment: string) => `to_char((${moment}) at time zone 'utc', 'YYYY-MM-DD')`;

/** Dates are compared as texts in the order of their bytes, so that no stored value can make the statement fail. */
export const date: Kind<Moment> = {
  operators: [
    ...(['equals', 'notEquals', 'greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals'] as const),
    ...(['before', 'after', 'between'] as const),
    ...RELATIVE,
    ...(['isNull', 'isNotNull'] as const),
  ],
  read,
  test(operator, expression, value, params) {
    const text = `${expression} collate "C"`;
    if ('unit' in value) return `${text} between ${dayOf(ago(value, params))} and ${dayOf('now()')}`;
    const day = (span: Span) => params.add(span.start.slice(0, 10), 'text');
    if ('from' in value) return `${text} between ${day(value.from)} and ${day(value.to)}`;
    return `${text} ${DAY_SIGNS[operator]} ${day(value)}`;
  },
};
