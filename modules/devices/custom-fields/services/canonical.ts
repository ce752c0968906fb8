/** Converts a value to the canonical form of its field, or returns what is wrong with it. */
import type { CustomField, FieldOptions, FieldType, FieldValue } from '../models/custom-field.ts';
import { matches } from '../models/pattern.ts';

export type Fault =
  | 'TOO_LONG'
  | 'TOO_SHORT'
  | 'PATTERN'
  | 'NOT_TEXT'
  | 'NOT_A_NUMBER'
  | 'OUT_OF_RANGE'
  | 'NOT_A_BOOLEAN'
  | 'NOT_A_CHOICE'
  | 'NOT_A_DATE';
export type Canonical = { value: FieldValue | null } | { fault: Fault };
export interface Writer {
  /** Values of scripts are text, from which numbers and booleans are read. */
  by: 'user' | 'script';
  /** IANA time zone that determines the date of a time. */
  timeZone: string;
}
type Rule = (value: unknown, options: FieldOptions, writer: Writer) => Canonical;

const DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
const TRUE = ['true', '1', 'yes'];
const FALSE = ['false', '0', 'no'];

function text(value: unknown, { min, max, pattern }: FieldOptions): Canonical {
  if (typeof value !== 'string') return { fault: 'NOT_TEXT' };
  const trimmed = value.trim();
  if (trimmed === '') return { value: null };
  if (trimmed.length > Math.min(10_000, Number(max ?? 10_000))) return { fault: 'TOO_LONG' };
  if (trimmed.length < Number(min ?? 0)) return { fault: 'TOO_SHORT' };
  return pattern !== undefined && !matches(pattern, trimmed) ? { fault: 'PATTERN' } : { value: trimmed };
}

function number(value: unknown, { min, max }: FieldOptions, { by }: Writer): Canonical {
  const fromText = by === 'script' && typeof value === 'string' && value.trim() !== '';
  const read = fromText ? Number(value) : value;
  if (typeof read !== 'number' || !Number.isFinite(read)) return { fault: 'NOT_A_NUMBER' };
  const outside = read < Number(min ?? -Infinity) || read > Number(max ?? Infinity);
  return outside ? { fault: 'OUT_OF_RANGE' } : { value: read };
}

function boolean(value: unknown, _options: FieldOptions, { by }: Writer): Canonical {
  if (typeof value === 'boolean') return { value };
  const word = by === 'script' ? String(value).trim().toLowerCase() : '';
  if (TRUE.includes(word)) return { value: true };
  return FALSE.includes(word) ? { value: false } : { fault: 'NOT_A_BOOLEAN' };
}

const dropdown: Rule = (value, { choices = [] }) =>
  typeof value === 'string' && choices.some((choice) => choice.value === value) ? { value } : { fault: 'NOT_A_CHOICE' };

function date(value: unknown, { min, max }: FieldOptions, { timeZone }: Writer): Canonical {
  const parts = typeof value === 'string' ? DATE.exec(value) : null;
  const written = parts?.[1] ?? '';
  const start = new Date(written);
  // JavaScript reads a date that does not exist (30 February) as one of the next month.
  if (Number.isNaN(start.getTime()) || start.toISOString().slice(0, 10) !== written) return { fault: 'NOT_A_DATE' };
  const moment = new Date(String(value));
  if (Number.isNaN(moment.getTime())) return { fault: 'NOT_A_DATE' };
  // The Swedish locale writes dates as YYYY-MM-DD.
  const day = parts?.[2] ? moment.toLocaleDateString('sv-SE', { timeZone }) : written;
  return day < String(min ?? '') || day > String(max ?? '9999-12-31') ? { fault: 'OUT_OF_RANGE' } : { value: day };
}

const RULES: Record<FieldType, Rule> = { text, number, boolean, dropdown, date };

/** `value: null` removes the value: for null, and for text that is empty after trimming. */
export function canonical(
  field: Pick<CustomField, 'type' | 'options'>,
  value: unknown,
  writer: Writer = { by: 'user', timeZone: 'UTC' },
): Canonical {
  return value === null ? { value: null } : RULES[field.type](value, field.options, writer);
}
