/** Strings, enums and uuids: exact comparison is case-sensitive, searching for a part is not. */
import { MAX_TEXT_LENGTH, MAX_VALUES, type Operator } from '../models/condition.ts';
import type { FilterField } from '../models/field.ts';
import { below, Fault, type Kind, type Params } from './kind.ts';
import { patternFault } from './patterns.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A text that PostgreSQL can store. Throws Fault. */
export function readText(value: unknown, least = 0): string {
  if (typeof value !== 'string') throw new Fault('BAD_VALUE', 'must be a string');
  if (value.length < least) throw new Fault('BAD_VALUE', 'must not be empty');
  if (value.length > MAX_TEXT_LENGTH) throw new Fault('TOO_LONG', `must have at most ${MAX_TEXT_LENGTH} characters`);
  if (value.includes('\0') || !value.isWellFormed())
    throw new Fault('BAD_VALUE', 'contains characters that cannot be stored');
  return value;
}

/** A list of 1 to 500 values. Throws Fault with the place of an invalid value. */
export function readList(value: unknown, read: (one: unknown) => string): string[] {
  if (!Array.isArray(value)) throw new Fault('BAD_VALUE', 'must be a list of strings');
  if (value.length === 0) throw new Fault('BAD_VALUE', 'must not be empty');
  if (value.length > MAX_VALUES) throw new Fault('TOO_MANY', `must have at most ${MAX_VALUES} values`);
  return value.map((one, index) => below(`.${index}`, () => read(one)));
}

/** The LIKE pattern that finds exactly this text: escapes wildcards. */
export function likePattern(operator: Operator, text: string): string {
  const plain = text.replaceAll(/[\\%_]/g, '\\$&');
  return `${operator === 'startsWith' ? '' : '%'}${plain}${operator === 'endsWith' ? '' : '%'}`;
}

function readPattern(value: unknown): string {
  const pattern = readText(value, 1);
  const fault = patternFault(pattern);
  if (fault) throw new Fault('BAD_PATTERN', fault);
  return pattern;
}

export const string: Kind<string | string[]> = {
  operators: [
    ...(['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith', 'matches'] as const),
    ...(['in', 'notIn', 'isNull', 'isNotNull'] as const),
  ],
  read(operator, value) {
    if (operator === 'in' || operator === 'notIn') return readList(value, (one) => readText(one));
    if (operator === 'matches') return readPattern(value);
    return readText(value, operator === 'equals' || operator === 'notEquals' ? 0 : 1);
  },
  test(operator, expression, value, params) {
    if (operator === 'equals') return `${expression} = ${params.add(value, 'text')}`;
    if (operator === 'in') return `${expression} = any(${params.add(value, 'text[]')})`;
    if (operator === 'matches') return `${expression} ~ ${params.add(value, 'text')}`;
    return `lower(${expression}) like lower(${params.add(likePattern(operator, value as string), 'text')})`;
  },
};

const listed = (type: string, read: (value: unknown, field: FilterField) => string) => ({
  read: (operator: Operator, value: unknown, field: FilterField) =>
    operator === 'in' || operator === 'notIn' ? readList(value, (one) => read(one, field)) : read(value, field),
  test: (operator: Operator, expression: string, value: string | string[], params: Params) =>
    operator === 'in'
      ? `${expression} = any(${params.add(value, `${type}[]`)})`
      : `${expression} = ${params.add(value, type)}`,
});

export const choice: Kind<string | string[]> = {
  operators: ['equals', 'notEquals', 'in', 'notIn', 'isNull', 'isNotNull'],
  ...listed('text', (value, { values = [] }) => {
    if (typeof value === 'string' && values.includes(value)) return value;
    throw new Fault('BAD_VALUE', `must be one of ${values.slice(0, 50).join(', ')}`);
  }),
};

export const uuid: Kind<string | string[]> = {
  operators: ['equals', 'in'],
  ...listed('uuid', (value) => {
    if (typeof value === 'string' && UUID.test(value)) return value;
    throw new Fault('BAD_VALUE', 'must be a uuid');
  }),
};
