/** E-mail addresses in requests. */
import Joi from 'joi';

/**
 * An address of at most 255 characters, with any top-level domain: internal names such as `ops@mail.corp` are addresses too.
 * Addresses that people log in with are compared in lower case: `emailAddress.lowercase()`.
 */
export const emailAddress = Joi.string().trim().email({ tlds: false }).max(255);
