/** Users, logins, second factor, API keys and enrollment keys. */
import { type Context, defineModule } from '#core';
import { mustTakePassword, passwordPlaces } from './services/access/login-rules.ts';
import { logIn, type Proof } from './services/access/logins.ts';
import { type Challenged, challenged, finishChallenge } from './services/access/mfa-challenges.ts';
import { choosePlace, type Place, placesOf } from './services/access/places.ts';
import { endSessions } from './services/access/sessions.ts';
import { type NoticeKind, tell } from './services/accounts/notices.ts';
import { hash, mustBeStrong } from './services/accounts/passwords.ts';
import { proveAddress } from './services/accounts/proofs.ts';
import { createUser, setFirstPassword, type UserCreate } from './services/accounts/users.ts';
import { mustBeFresh, mustHaveShownFactor } from './services/factors/demands.ts';
import { countEnrollment, lockEnrollmentKey } from './services/keys/enrollments.ts';

const api = (ctx: Context) => ({
  /** The key, held until this transaction ends, or null. Needs platform work: the organization is not known before. */
  lockEnrollmentKey: (rawKey: string) => lockEnrollmentKey(ctx, rawKey),
  /** Counts one successful enrollment; false when the key has expired or is used up. */
  countEnrollment: (keyId: string) => countEnrollment(ctx, keyId),

  // People. All of it needs platform work.

  /** An active account without a place; its id, or null when the address is taken. */
  createUser: (user: UserCreate) => createUser(ctx, user),
  /** Checks the strength of a new password and hashes it. Throws WEAK_PASSWORD, UNAVAILABLE. Not within a transaction. */
  async hashNewPassword(password: string, about: string[]) {
    await mustBeStrong(password, about);
    return hash(password);
  },
  /** Where the user may log in, the place a login takes by itself first. */
  placesOf: (userId: string) => placesOf(ctx, userId),
  /**
   * The place named, else the first, of those that open without the organization's identity provider: for logins that
   * the provider has no part in. Throws SSO_REQUIRED, 403 when the user has no such place.
   */
  async choosePlace(userId: string, named: { orgId?: string; partnerId?: string }) {
    const places = await placesOf(ctx, userId);
    const open = await passwordPlaces(ctx, places);
    mustTakePassword(places, open, named);
    return choosePlace(open, named);
  },
  /**
   * Lets in a user whom the caller has proven by other means than a password: `body` to answer with, `issued.cookies` to
   * set. Without a shown second factor it may be the demand for one. Records user.login. Throws INVALID_CREDENTIALS.
   */
  logIn: (userId: string, place: Place, proof: Proof) => logIn(ctx, userId, place, proof),
  /** Who stands behind a temporary token; counts as an attempt. Throws TEMP_TOKEN_INVALID, RATE_LIMITED. */
  challenged: (tempToken: string) => challenged(ctx, tempToken),
  /** Uses the temporary token up and logs in as logIn() does; the caller has checked the second factor. */
  finishChallenge: (tempToken: string, who: Challenged, via: string) => finishChallenge(ctx, tempToken, who, via),
  /**
   * The user came by a link that was mailed to the address. The first time this drops password, second factors and
   * sessions: a stranger may have set them. True then.
   */
  proveAddress: (userId: string) => proveAddress(ctx, userId),
  /** Gives a password to an account that has none. False for one that has, or is not active. */
  setFirstPassword: (userId: string, passwordHash: string) => setFirstPassword(ctx, userId, passwordHash),
  /**
   * Before the caller changes what opens their account: throws REAUTHENTICATION_REQUIRED for a login older than 15
   * minutes, MFA_VERIFICATION_REQUIRED for one that has not shown the second factor the user enrolled.
   */
  mustBeFresh: async () => {
    await mustBeFresh(ctx);
    await mustHaveShownFactor(ctx, { userId: ctx.actor.id ?? '', mfa: ctx.actor.mfa });
  },
  /** Mails the user what happened to the account, with this transaction. */
  tell: (email: string, kind: NoticeKind) => tell(ctx, email, kind),
  /** Ends the user's sessions, all or those in one place. */
  endSessions: (userId: string, place?: Pick<Place, 'partnerId' | 'orgId'>) => endSessions(ctx, userId, place),
});

declare module '#core/contract' {
  interface Apis {
    identity: ReturnType<typeof api>;
  }
}

export default defineModule({
  name: 'identity',
  title: 'Identity and access',
  summary: 'Logins, registration, the second factor, API keys and enrollment keys',
  requires: ['tenancy'],
  core: true,
  auditOnly: ['user.login.failed', 'auth.refresh.reuse', 'auth.sms.refused'],
  api,
});
