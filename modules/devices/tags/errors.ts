/** Errors of this module. */
import { defineError, errors } from '#core';

export const TooManyDevices = defineError('TOO_MANY_DEVICES', 422, 'The filter matches more than 5000 devices');
export const OutOfScope = defineError('TARGET_OUT_OF_SCOPE', 403, 'This reaches beyond your own sites or groups');

/** One field of a request that does not fit. */
export const invalid = (path: string, message: string, where: 'payload' | 'query' = 'payload') =>
  errors.ValidationFailed({ message, details: [{ in: where, path, message }] });
