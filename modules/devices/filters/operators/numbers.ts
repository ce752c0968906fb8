/** Numbers and booleans. */
import type { Operator } from '../models/condition.ts';
import { below, exactly, Fault, type Kind } from './kind.ts';

export const COMPARISONS: Partial<Record<Operator, string>> = {
  equals: '=',
  greaterThan: '>',
  greaterThanOrEquals: '>=',
  lessThan: '<',
  lessThanOrEquals: '<=',
};

function readNumber(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Fault('BAD_VALUE', 'must be a number');
  return value;
}

export const number: Kind<number | { from: number; to: number }> = {
  operators: [
    ...(['equals', 'notEquals', 'greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals'] as const),
    ...(['between', 'isNull', 'isNotNull'] as const),
  ],
  read(operator, value) {
    if (operator !== 'between') return readNumber(value);
    const ends = exactly(value, ['from', 'to']);
    const from = below('.from', () => readNumber(ends.from));
    const to = below('.to', () => readNumber(ends.to));
    if (from > to) throw new Fault('BAD_VALUE', 'must not be above to', '.from');
    return { from, to };
  },
  test(operator, expression, value, params) {
    if (typeof value === 'number') {
      return `${expression} ${COMPARISONS[operator]} ${params.add(String(value), 'numeric')}`;
    }
    const from = params.add(String(value.from), 'numeric');
    return `${expression} between ${from} and ${params.add(String(value.to), 'numeric')}`;
  },
};

export const boolean: Kind<boolean> = {
  operators: ['equals', 'notEquals', 'isNull', 'isNotNull'],
  read(_operator, value) {
    if (typeof value !== 'boolean') throw new Fault('BAD_VALUE', 'must be true or false');
    return value;
  },
  test: (_operator, expression, value, params) => `${expression} = ${params.add(value, 'boolean')}`,
};
