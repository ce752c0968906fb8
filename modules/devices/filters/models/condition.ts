/** Condition trees: their operators, and the limits of their size. */

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
export const MAX_LEVELS = 10;
export const MAX_CONDITIONS = 100;
/** Values of `in`, `notIn`, `hasAny` and `hasAll`. */
export const MAX_VALUES = 500;
/** UTF-16 units of one text, and of a regular expression. */
export const MAX_TEXT_LENGTH = 1000;
export const MAX_PATTERN_LENGTH = 200;

/** Each is the opposite of another operator, and therefore also true of a device without a value. */
export const OPPOSITES: Partial<Record<Operator, Operator>> = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
  notWithinLast: 'withinLast',
};

export const WITHOUT_VALUE: ReadonlySet<string> = new Set(['isNull', 'isNotNull', 'isEmpty', 'isNotEmpty']);
