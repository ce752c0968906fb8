/** Validates values for custom fields. */
import { type Context, errors } from '#core';
import type { CustomField, FieldValue } from '../models/custom-field.ts';
import { canonical, type Writer } from './canonical.ts';
import { joinWriters } from './turns.ts';
import { fieldsOf } from './visible.ts';

export type CheckOptions = Partial<Writer>;

const MESSAGES: Record<string, string> = {
  UNKNOWN_CUSTOM_FIELD: 'is not a custom field here',
  NOT_FOR_THIS_OS: 'does not apply to this operating system',
  NOT_EDITABLE: 'may not be written this way',
  REQUIRED: 'is required',
};

/**
 * The values in their canonical form; null means that the value is removed. Throws VALIDATION_ERROR with every error and its path
 * `customFields.<key>`. `required` is checked for users only: a script that writes another field must not fail because of it.
 * Call it in the transaction that writes the values: the removal of a field waits for its end.
 */
export async function checkValues(
  ctx: Context,
  orgId: string,
  osType: string,
  values: Record<string, unknown>,
  { by = 'user', timeZone = 'UTC' }: CheckOptions = {},
): Promise<Record<string, FieldValue | null>> {
  await joinWriters(ctx, orgId);
  const fields = new Map((await fieldsOf(ctx, orgId)).map((field) => [field.fieldKey, field]));
  const good = new Map<string, FieldValue | null>();
  const faults: object[] = [];
  for (const [key, given] of Object.entries(values)) {
    const result = judge(fields.get(key), given, osType, { by, timeZone });
    if ('fault' in result) {
      const message = `customFields.${key} ${MESSAGES[result.fault] ?? `does not fit: ${result.fault}`}`;
      faults.push({ in: 'payload', path: `customFields.${key}`, code: result.fault, message });
    } else good.set(key, result.value);
  }
  if (faults.length > 0) throw errors.ValidationFailed({ message: 'Custom fields are not valid', details: faults });
  return Object.fromEntries(good);
}

function judge(
  field: CustomField | undefined,
  given: unknown,
  osType: string,
  writer: Writer,
): { value: FieldValue | null } | { fault: string } {
  if (!field) return { fault: 'UNKNOWN_CUSTOM_FIELD' };
  if (field.deviceTypes && !field.deviceTypes.includes(osType)) return { fault: 'NOT_FOR_THIS_OS' };
  if (field.editableBy !== 'both' && field.editableBy !== writer.by) return { fault: 'NOT_EDITABLE' };
  const result = canonical(field, given, writer);
  const removes = 'value' in result && result.value === null;
  return removes && field.required && writer.by === 'user' ? { fault: 'REQUIRED' } : result;
}
