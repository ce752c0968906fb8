/** Validates a definition: its options must fit the type, and its default the options. */
import { errors } from '#core';
import type { FieldOptions, FieldType, FieldValue } from '../models/custom-field.ts';
import { canonical } from './canonical.ts';

interface Definition {
  type: FieldType;
  options: FieldOptions;
  defaultValue?: FieldValue | null;
}

/** Throws VALIDATION_ERROR with every error. */
export function checkDefinition({ type, options, defaultValue = null }: Definition): void {
  const faults: { in: string; path: string; message: string }[] = [];
  const fault = (path: string, message: string) => faults.push({ in: 'payload', path, message });
  const { choices, min, max, pattern } = options;
  if (type === 'dropdown' && !choices) fault('options.choices', 'A dropdown needs choices');
  if (type !== 'dropdown' && choices) fault('options.choices', 'Only a dropdown has choices');
  if (type !== 'text' && pattern !== undefined) fault('options.pattern', 'Only text has a pattern');
  const kind = type === 'date' ? 'string' : 'number';
  for (const [name, value] of Object.entries({ min, max })) {
    if (value === undefined) continue;
    if (type === 'boolean' || type === 'dropdown') fault(`options.${name}`, `A ${type} field has no limits`);
    else if (typeof value !== kind) fault(`options.${name}`, `Must be a ${kind === 'number' ? 'number' : 'date'}`);
  }
  if (min !== undefined && max !== undefined && min > max) fault('options.min', 'Must not be above the maximum');
  const fits = faults.length > 0 ? { value: null } : canonical({ type, options }, defaultValue);
  if ('fault' in fits) fault('defaultValue', `Does not fit the field: ${fits.fault}`);
  if (faults.length > 0) throw errors.ValidationFailed({ message: faults[0]?.message ?? '', details: faults });
}

/** The choices that a change removes. */
export function takenAway(before: { options: FieldOptions }, changes: { options?: FieldOptions }): string[] {
  if (!changes.options) return [];
  const left = new Set(changes.options.choices?.map((choice) => choice.value));
  return (before.options.choices ?? []).map((choice) => choice.value).filter((value) => !left.has(value));
}

/** Throws VALIDATION_ERROR unless it maps removed choices to existing ones. */
export function checkMap(mapTo: Record<string, string>, gone: readonly string[], { choices = [] }: FieldOptions): void {
  const details = Object.entries(mapTo).flatMap(([from, to]) => {
    const path = `mapTo.${from}`;
    if (!gone.includes(from)) return [{ in: 'payload', path, message: 'Is not a choice that is being removed' }];
    if (choices.some(({ value }) => value === to)) return [];
    return [{ in: 'payload', path, message: `${to} is not a choice` }];
  });
  if (details.length > 0) throw errors.ValidationFailed({ message: details[0]?.message ?? '', details });
}
