/** What every way of logging in answers: tokens, or the demand for a second factor. */
import Joi from 'joi';

export const tokensShape = Joi.object({
  accessToken: Joi.string().required(),
  expiresInSeconds: Joi.number().integer().required(),
  refreshToken: Joi.string().description('Only where the old one came in the body'),
});

/** A schema for responses; the refresh token travels beside it as a cookie. */
export const loginAnswer = Joi.object({
  user: Joi.object({
    id: Joi.string().uuid().required(),
    email: Joi.string().required(),
    name: Joi.string().required(),
    mfaEnabled: Joi.boolean().required(),
  }),
  tokens: tokensShape,
  mfaRequired: Joi.boolean().required(),
  tempToken: Joi.string().description('Stands for what was proven so far, for 5 minutes'),
  mfaMethod: Joi.string().valid('totp', 'sms').description('The method the user enrolled'),
  phone: Joi.string().description('Where the code of method sms is sent, the last four digits'),
  mfaMethods: Joi.array().items(Joi.string()).description('All methods that would finish this login'),
});
