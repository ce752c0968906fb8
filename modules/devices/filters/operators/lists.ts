/** Lists of texts, such as tags. */
import type { Operator } from '../models/condition.ts';
import type { FilterField } from '../models/field.ts';
import { Fault, type Kind } from './kind.ts';
import { likePattern, readList, readText } from './texts.ts';

function readOne(value: unknown, { normalise }: FilterField): string {
  const text = readText(value, 1);
  const stored = normalise ? normalise(text) : text;
  if (stored === '') throw new Fault('BAD_VALUE', 'must not be empty');
  return stored;
}

export const array: Kind<string | string[] | null> = {
  operators: ['hasAny', 'hasAll', 'isEmpty', 'isNotEmpty', 'contains'],
  read(operator: Operator, value, field) {
    if (operator === 'isEmpty' || operator === 'isNotEmpty') return null;
    if (operator === 'contains') return readText(value, 1);
    return readList(value, (one) => readOne(one, field));
  },
  test(operator, expression, value, params) {
    if (operator === 'isEmpty') return `cardinality(${expression}) = 0`;
    if (operator === 'isNotEmpty') return `cardinality(${expression}) > 0`;
    if (operator === 'hasAny') return `${expression} && ${params.add(value, 'text[]')}`;
    if (operator === 'hasAll') return `${expression} @> ${params.add(value, 'text[]')}`;
    const pattern = params.add(likePattern('contains', value as string), 'text');
    return `exists (select from unnest(${expression}) one where lower(one) like lower(${pattern}))`;
  },
};
