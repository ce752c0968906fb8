/** The interface of a type of field: its operators, how it reads values, and the SQL of its conditions. */
import type { Operator } from '../models/condition.ts';
import type { FilterField } from '../models/field.ts';

/** An invalid value. `at` leads from the value to the fault (`.from`, `.3`); empty for the value as a whole. */
export class Fault extends Error {
  readonly code: string;
  readonly at: string;

  constructor(code: string, message: string, at = '') {
    super(message);
    this.code = code;
    this.at = at;
  }
}

/** Parameters of one statement in the order of their `$n`; equal trees give equal text, whatever their values are. */
export class Params {
  readonly list: unknown[] = [];
  private readonly before: number;

  /** @param first number of the first parameter. */
  constructor(first = 1) {
    this.before = first - 1;
  }

  /** @param type the PostgreSQL type, so that the statement does not depend on the types that the driver sends */
  add(value: unknown, type: string): string {
    return `$${this.before + this.list.push(value)}::${type}`;
  }
}

/** `V` is a value as `read` returns it. The compiler handles opposites and null tests. */
export interface Kind<V> {
  operators: readonly Operator[];
  /** Throws Fault for an invalid value. */
  read(operator: Operator, value: unknown, field: FilterField): V;
  /** The condition over `expression`: null where the expression is null. */
  test(operator: Operator, expression: string, value: V, params: Params): string;
}
// biome-ignore lint/suspicious/noExplicitAny: the table of kinds holds kinds of every value
export type AnyKind = Kind<any>;

/** Returns an object with exactly these keys. Throws Fault. */
export function exactly(value: unknown, keys: readonly string[]): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Fault('BAD_VALUE', `must be an object with ${keys.join(' and ')}`);
  }
  for (const key of keys) if (!Object.hasOwn(value, key)) throw new Fault('BAD_VALUE', 'is required', `.${key}`);
  for (const key of Object.keys(value))
    if (!keys.includes(key)) throw new Fault('BAD_VALUE', 'is not allowed', `.${key}`);
  return value as Record<string, unknown>;
}

/** Runs `read`, and adds to a fault the place below the value. */
export function below<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Fault ? new Fault(error.code, error.message, `${at}${error.at}`) : error;
  }
}
