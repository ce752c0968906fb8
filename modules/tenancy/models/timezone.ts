/** An IANA time zone that this runtime knows. */
import Joi from 'joi';

const zones = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC']);

export const timezone = Joi.string()
  .max(50)
  .custom((value: string, helpers) => (zones.has(value) ? value : helpers.error('any.invalid')))
  .messages({ 'any.invalid': '{{#label}} must be an IANA time zone' })
  .description('IANA time zone');
