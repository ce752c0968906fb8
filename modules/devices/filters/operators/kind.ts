/** What a type of field must know: its operators, how their values are read, and the SQL they become. */
import type { Operator } from '../models/condition.ts';
import type { FilterField } from '../models/field.ts';

/** A value that does not fit. `at` leads from the value to the fault (`.from`, `.3`); empty for the value as a whole. */
export class Fault extends Error {
  readonly code: string;
  readonly at: string;

  constructor(code: string, message: string, at = '') {
    super(message);
    this.code = code;
    this.at = at;
  }
}

/** Values of one statement in the order of their `$n`; equal trees give equal text, whatever their values are. */
export class Params {
  readonly list: unknown[] = [];
  private readonly before: number;

  /** @param first number of the first parameter. */
  constructor(first = 1) {
    this.before = first - 1;
  }

  /** @param type the PostgreSQL type, so that the statement means the same whatever the driver sends. */
  add(value: unknown, type: string): string {
    return `$${this.before + this.list.push(value)}::${type}`;
  }
}

/** `V` is a value as `read` leaves it. Opposites and questions for null are the compiler's business. */
export interface Kind<V> {
  operators: readonly Operator[];
  /** Throws Fault. */
  read(operator: Operator, value: unknown, field: FilterField): V;
  /** The condition over `expression`: null where that is null. */
  test(operator: Operator, expression: string, value: V, params: Params): string;
}
// biome-ignore lint/suspicious/noExplicitAny: the table of kinds holds kinds of every value
export type AnyKind = Kind<any>;

/** An object with exactly these keys. Throws Fault. */
export function exactly(value: unknown, keys: readonly string[]): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Fault('BAD_VALUE', `must be an object with ${keys.join(' and ')}`);
  }
  for (const key of keys) if (!Object.hasOwn(value, key)) throw new Fault('BAD_VALUE', 'is required', `.${key}`);
  for (const key of Object.keys(value))
    if (!keys.includes(key)) throw new Fault('BAD_VALUE', 'is not allowed', `.${key}`);
  return value as Record<string, unknown>;
}

/** Runs `read` and says where below the value it failed. */
export function below<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Fault ? new Fault(error.code, error.message, `${at}${error.at}`) : error;
  }
}
