/** Errors of this module. */
import { defineError, errors } from '#core';

/** Thrown when the filter of a change matches more devices than one change may affect. */
export const TooManyDevices = defineError('TOO_MANY_DEVICES', 422, 'The filter matches more than 5000 devices');

/** Makes VALIDATION_ERROR for one field of the request. */
export const invalid = (path: string, message: string, where: 'payload' | 'query' = 'payload') =>
  errors.ValidationFailed({ message, details: [{ in: where, path, message }] });
