/** Request and response schemas of the second factor. */
import Joi from 'joi';
import { named } from '#core';

export interface Code {
  code: string;
}
export const codeOnly = named(
  'FactorCode',
  Joi.object<Code>({
    code: Joi.string()
      .trim()
      .pattern(/^\d{6}$/)
      .required()
      .messages({ 'string.pattern.base': '{{#label}} must have 6 digits' }),
  }),
);
export const recoveryCodes = Joi.array().items(Joi.string()).description('The codes; they cannot be shown again');
export const enabledShape = named(
  'FactorEnabled',
  Joi.object({
    success: Joi.boolean().required(),
    mfaEnabled: Joi.boolean().required(),
    recoveryCodes: recoveryCodes.required(),
  }),
);
