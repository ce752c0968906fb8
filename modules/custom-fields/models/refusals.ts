/** Errors of this module. */
import { defineError } from '#core';

export const OwnerRequired = defineError('OWNER_REQUIRED', 400, 'Exactly one of orgId and partnerId is required');
export const ImmutableField = defineError('IMMUTABLE_FIELD', 400, 'The key and the type of a field never change');
export const FieldLimit = defineError('FIELD_LIMIT_REACHED', 409, 'An owner has at most 100 custom fields');
export const KeyTaken = defineError('KEY_TAKEN', 409, 'The key is in use, or its old values are still being removed');
export const OutOfScope = defineError(
  'TARGET_OUT_OF_SCOPE',
  403,
  'A custom field reaches devices beyond your sites or groups',
);
