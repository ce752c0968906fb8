/** Requests and answers of the public routes of a login. */
import Joi from 'joi';
import { named } from '#core';

const ELSEWHERE = 'http://elsewhere.invalid';

/** A path of this installation: nothing that a browser could read as another host, and no fragment, which carries the code. */
const localPath = Joi.string()
  .max(2000)
  .custom((value: string, helpers) => {
    const local = /^\/(?![/\\])[^\\#\p{C}\s]*$/u.test(value) && URL.parse(value, ELSEWHERE)?.origin === ELSEWHERE;
    return local ? value : helpers.error('path.local');
  })
  .messages({ 'path.local': '{{#label}} must be a path that begins with a single /' });

export const loginParams = Joi.object<{ orgId: string }, true>({ orgId: Joi.string().uuid().required() });
export const loginQuery = Joi.object<{ returnTo?: string }>({
  returnTo: localPath.description('The page of the application that takes the code; /login by itself'),
});
export const callbackQuery = Joi.object<Record<string, unknown>>({
  state: Joi.any().description('As it was sent along'),
  code: Joi.any().description('The authorization code'),
  iss: Joi.any().description('The issuer (RFC 9207)'),
  error: Joi.any().description('Why there is no code'),
})
  // Providers add parameters of their own.
  .unknown(true);
export const exchangeBody = named(
  'SsoExchange',
  Joi.object<{ code: string }, true>({ code: Joi.string().max(200).required() }),
);
export const checkShape = named(
  'SsoCheck',
  Joi.object({
    enabled: Joi.boolean().required(),
    provider: Joi.object({
      name: Joi.string().required(),
      type: Joi.string().valid('oidc').required(),
    })
      .allow(null)
      .required(),
    enforceSSO: Joi.boolean().required(),
  }),
);
