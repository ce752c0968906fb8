/** What other modules may ask of accounts, logins and enrollment keys: `ctx.use('identity')`. Needs the platform's role. */
import { type BoundApi, defineApi } from '#core';
import { choosePasswordPlace } from './services/access/login-rules.ts';
import { logIn } from './services/access/logins.ts';
import { challenged, finishChallenge } from './services/access/mfa-challenges.ts';
import { placesOf } from './services/access/places.ts';
import { endSessions } from './services/access/sessions.ts';
import { tell } from './services/accounts/notices.ts';
import { hashNewPassword } from './services/accounts/passwords.ts';
import { addressState, claimAccount } from './services/accounts/proofs.ts';
import { createUser, setFirstPassword } from './services/accounts/users.ts';
import { mustProveFresh } from './services/factors/demands.ts';
import { removeFactors } from './services/factors/factor-removal.ts';
import { countEnrollment, lockEnrollmentKey } from './services/keys/enrollments.ts';

export const api = defineApi({
  lockEnrollmentKey,
  countEnrollment,
  createUser,
  hashNewPassword,
  placesOf,
  choosePlace: choosePasswordPlace,
  logIn,
  challenged,
  finishChallenge,
  addressState,
  claimAccount,
  removeFactors,
  setFirstPassword,
  mustBeFresh: mustProveFresh,
  tell,
  endSessions,
});

declare module '#core/contract' {
  interface Apis {
    identity: BoundApi<typeof api>;
  }
}
