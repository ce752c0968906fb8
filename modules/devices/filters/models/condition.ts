/** Condition trees: their words, and how large they may be. */

export const OPERATORS = [
  ...(['equals', 'notEquals', 'greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals'] as const),
  ...(['contains', 'notContains', 'startsWith', 'endsWith', 'matches', 'in', 'notIn', 'hasAny', 'hasAll'] as const),
  ...(['isEmpty', 'isNotEmpty', 'isNull', 'isNotNull', 'before', 'after', 'between'] as const),
  ...(['withinLast', 'notWithinLast'] as const),
] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  field: string;
  operator: Operator;
  value?: unknown;
}
export interface Group {
  operator: 'AND' | 'OR';
  conditions: (Condition | Group)[];
}

/** The root is the first level. */
export const MOST_LEVELS = 10;
export const MOST_CONDITIONS = 100;
/** Values of `in`, `notIn`, `hasAny` and `hasAll`. */
export const MOST_VALUES = 500;
/** UTF-16 units of one text, and of a regular expression. */
export const LONGEST_TEXT = 1000;
export const LONGEST_PATTERN = 200;

/** Each is the opposite of another and therefore also true of a device without a value. */
export const OPPOSITES: Partial<Record<Operator, Operator>> = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
  notWithinLast: 'withinLast',
};

export const WITHOUT_VALUE: ReadonlySet<string> = new Set(['isNull', 'isNotNull', 'isEmpty', 'isNotEmpty']);
