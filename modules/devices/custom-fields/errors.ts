/** Errors of this module. */
import { defineError } from '#core';

export const ImmutableField = defineError('IMMUTABLE_FIELD', 400, 'The key and the type of a field never change');
export const FieldLimit = defineError('FIELD_LIMIT_REACHED', 409, 'An owner has at most 100 custom fields');
export const KeyTaken = defineError('KEY_TAKEN', 409, 'The key is in use, or its old values are still being removed');
