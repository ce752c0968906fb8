/** A user of an organization logged in. Logins of partners' users are the partner's own and have no event. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface LoggedIn {
  userId: string;
  via: string;
  mfa: boolean;
}

export default defineEvent({
  summary: 'A user logged in',
  data: Joi.object<LoggedIn>({
    userId: Joi.string().uuid().required(),
    via: Joi.string().required().description('password, sso, passkey, invitation or second factor'),
    mfa: Joi.boolean().required().description('Whether a second factor was verified'),
  }),
  example: { userId: '7c9e6679-7425-40de-944b-000000000001', via: 'second factor', mfa: true },
  webhook: { kind: 'user.login' },
});
