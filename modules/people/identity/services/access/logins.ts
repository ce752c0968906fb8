/** Logging in with a password, without revealing which addresses exist. */
import { type Context, defineBatch } from '#core';
import { needsRehash } from '#core/auth';
import { InvalidCredentials } from '../../errors.ts';
import { type Credentials, LOGIN_COLUMNS, type LoginUser } from '../../models/user.ts';
import { hash, passwordFits } from '../accounts/passwords.ts';
import { type LoggedIn, letIn, type Proof, recordFailure } from './login-results.ts';
import { factorsOf, mustTakePassword, passwordPlaces } from './login-rules.ts';
import { openChallenge } from './mfa-challenges.ts';
import { choosePlace, type Membership, placesColumn } from './places.ts';
import type { Issued } from './sessions.ts';

const NO_USER = '00000000-0000-0000-0000-000000000000';

type Lookup = { user: LoginUser | null; places: Membership[] };
/** The user of an address and their places in one statement; an unknown address costs the same. */
const lookups = defineBatch<string, Lookup>({
  name: 'identity-login',
  maxSize: 50,
  autocommit: true,
  async run(sql, emails) {
    const { rows } = await sql<LoginUser & { places: Membership[] }>(
      `select ${LOGIN_COLUMNS}, ${placesColumn(`coalesce(users.id, '${NO_USER}')`)}
       from unnest($1::text[]) with ordinality asked (email, n) left join users on lower(users.email) = asked.email
       order by n`,
      [emails],
      'identity-login',
    );
    return rows.map(({ places, ...user }) => ({ user: user.id ? user : null, places }));
  },
});

export interface CodeWanted {
  mfaRequired: true;
  tempToken: string;
  mfaMethod: 'totp' | 'sms';
  mfaMethods: string[];
  /** The number a code would be sent to, masked except for its end. */
  phone?: string;
}
export type Answer = { body: LoggedIn; issued: Issued } | { body: CodeWanted; issued: null };
/**
 * A wrong password, an unknown address and an inactive user get the same answer after the same work: the same number of
 * queries and one hash, computed while no transaction is open. Throws INVALID_CREDENTIALS, 403 without a place,
 * SSO_REQUIRED.
 */
export async function login(ctx: Context, input: Credentials): Promise<Answer> {
  const { user, places } = await ctx.batch(lookups, input.email);
  const fits = await passwordFits(input.password, user?.passwordHash);
  if (!user || !fits || user.status !== 'active') {
    if (user) recordFailure(ctx, user, places[0], fits ? 'the user is not active' : 'wrong password');
    else recordUnknown(ctx, input.email);
    throw InvalidCredentials();
  }
  const open = await passwordPlaces(ctx, places);
  mustTakePassword(places, open, input);
  const place = choosePlace(open, input);
  if (user.passwordHash && needsRehash(user.passwordHash)) await renewHash(ctx, user, input.password);
  return answer(ctx, user, place, { mfa: false, via: 'password' });
}

/** Opens a session when the user has proven enough, else asks for the second factor. Needs the platform's role. */
export async function answer(ctx: Context, user: LoginUser, place: Membership, proof: Proof): Promise<Answer> {
  if (proof.mfa || !user.mfaEnabled || !ctx.services.config.identity.twoFactor) return letIn(ctx, user, place, proof);
  ctx.unchanged();
  const mfaMethod = user.mfaMethod ?? 'totp';
  const tempToken = await openChallenge(ctx, user.id, place);
  const mfaMethods = await factorsOf(ctx, user.id, mfaMethod);
  const phone = mfaMethod === 'sms' && user.phone ? { phone: user.phone } : {};
  return { body: { mfaRequired: true, tempToken, mfaMethod, mfaMethods, ...phone }, issued: null };
}

/** For modules that authenticate users by other means; otherwise as answer(). Throws INVALID_CREDENTIALS for inactive users. */
export async function logIn(ctx: Context, userId: string, place: Membership, proof: Proof): Promise<Answer> {
  const { rows } = await ctx.sql<LoginUser>(`select ${LOGIN_COLUMNS} from users where id = $1 and status = 'active'`, [
    userId,
  ]);
  if (!rows[0]) throw InvalidCredentials();
  return answer(ctx, rows[0], place, proof);
}

const ADDRESS = /^[^\s@]+@[^\s@]+$/;

/** Recorded in the platform's audit trail. Text that is not an address is left out: it may be a password in the wrong field. */
function recordUnknown(ctx: Context, email: string): void {
  ctx.auditAttempt('user.login.failed', {
    resourceType: 'user',
    resourceName: ADDRESS.test(email) ? email : null,
    result: 'failure',
    errorMessage: 'no such user',
  });
}

async function renewHash(ctx: Context, user: LoginUser, password: string): Promise<void> {
  const renewed = await hash(password);
  await ctx.sql('update users set password_hash = $2 where id = $1 and password_hash = $3', [
    user.id,
    renewed,
    user.passwordHash,
  ]);
}
