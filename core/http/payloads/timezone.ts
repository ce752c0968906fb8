/** An IANA time zone that this runtime knows. */
import Joi from 'joi';

/** Links count too (Asia/Kolkata beside Asia/Calcutta); offsets, which Intl would also take, are no zones. */
function isZone(name: string): boolean {
  if (!/^[A-Za-z][\w+-]*(\/[A-Za-z][\w+-]*)*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const timezone = Joi.string()
  .max(50)
  .custom((value: string, helpers) => (isZone(value) ? value : helpers.error('any.invalid')))
  .messages({ 'any.invalid': '{{#label}} must be an IANA time zone' })
  .description('IANA time zone');
