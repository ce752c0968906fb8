/** Logging in with a password, without telling who exists. */
import { type Context, defineBatch, needsRehash } from '#core';
import { type Credentials, LOGIN_COLUMNS, type LoginUser } from '../../models/user.ts';
import { hash, passwordFits } from '../accounts/passwords.ts';
import { factorsOf, mustTakePassword, passwordPlaces } from './login-rules.ts';
import { openChallenge } from './mfa-challenges.ts';
import { choosePlace, ownerOf, type Place, placesColumn } from './places.ts';
import { InvalidCredentials, type Issued, openSession, type Tokens } from './sessions.ts';

const NO_USER = '00000000-0000-0000-0000-000000000000';

type Found = { user: LoginUser | null; places: Place[] };
/** Who logs in under an address, and where to, in one statement; places are looked for even of nobody. */
const lookups = defineBatch<string, Found>({
  name: 'identity-login',
  maxSize: 50,
  autocommit: true,
  async run(sql, emails) {
    const { rows } = await sql<LoginUser & { places: Place[] }>(
      `select ${LOGIN_COLUMNS}, ${placesColumn(`coalesce(users.id, '${NO_USER}')`)}
       from unnest($1::text[]) with ordinality asked (email, n) left join users on lower(users.email) = asked.email
       order by n`,
      [emails],
      'identity-login',
    );
    return rows.map(({ places, ...user }) => ({ user: user.id ? user : null, places }));
  },
});

export interface LoggedIn {
  user: { id: string; email: string; name: string; mfaEnabled: boolean };
  tokens: Tokens;
  mfaRequired: false;
}
export interface CodeWanted {
  mfaRequired: true;
  tempToken: string;
  mfaMethod: 'totp' | 'sms';
  mfaMethods: string[];
  /** Where a code would be sent, all but its end hidden. */
  phone?: string;
}
export type Answer = { body: LoggedIn; issued: Issued } | { body: CodeWanted; issued: null };
export interface Proof {
  /** Whether a second factor was shown already. */
  mfa: boolean;
  /** How the user came in, for the trail: `password`, `sso`, `passkey`, `invitation`. */
  via: string;
}

/**
 * A wrong password, an unknown address and a user who may not log in get one answer after the same work: as many
 * queries, and one hash. The hash is made while no transaction is open. Throws INVALID_CREDENTIALS, 403 without a place,
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

/** Lets in whoever has proven enough, or asks for the second factor. Needs platform work. */
export async function answer(ctx: Context, user: LoginUser, place: Place, proof: Proof): Promise<Answer> {
  if (proof.mfa || !user.mfaEnabled || !ctx.services.config.identity.twoFactor) return letIn(ctx, user, place, proof);
  ctx.unchanged();
  const mfaMethod = user.mfaMethod ?? 'totp';
  const tempToken = await openChallenge(ctx, user.id, place);
  const mfaMethods = await factorsOf(ctx, user.id, mfaMethod);
  const phone = mfaMethod === 'sms' && user.phone ? { phone: user.phone } : {};
  return { body: { mfaRequired: true, tempToken, mfaMethod, mfaMethods, ...phone }, issued: null };
}

/** For modules that know by other means who somebody is; as answer(). Throws INVALID_CREDENTIALS for who is not active. */
export async function logIn(ctx: Context, userId: string, place: Place, proof: Proof): Promise<Answer> {
  const { rows } = await ctx.sql<LoginUser>(`select ${LOGIN_COLUMNS} from users where id = $1 and status = 'active'`, [
    userId,
  ]);
  if (!rows[0]) throw InvalidCredentials();
  return answer(ctx, rows[0], place, proof);
}

/** Opens the session of a user who has proven everything, in this transaction, and records the login. */
export async function letIn(
  ctx: Context,
  user: Pick<LoginUser, 'id' | 'email' | 'name' | 'mfaEnabled'>,
  place: Place,
  { mfa, via }: Proof,
): Promise<{ body: LoggedIn; issued: Issued }> {
  const { id, email, name, mfaEnabled } = user;
  const issued = await openSession(ctx, { userId: id, mfa, place });
  ctx.audit('user.login', {
    ...ownerOf(place),
    resourceType: 'user',
    resourceId: id,
    resourceName: email,
    details: { scope: place.scope, mfa, via },
    actor: { kind: 'user', id, email },
  });
  return { body: { user: { id, email, name, mfaEnabled }, tokens: issued.tokens, mfaRequired: false }, issued };
}

/** Goes to the trail of the place that the user would have reached. */
export function recordFailure(
  ctx: Context,
  user: Pick<LoginUser, 'id' | 'email'>,
  place: Pick<Place, 'orgId' | 'partnerId'> | undefined,
  errorMessage: string,
): void {
  ctx.auditAttempt('user.login.failed', {
    ...ownerOf(place),
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.email,
    result: 'failure',
    errorMessage,
    actor: { kind: 'user', id: user.id, email: user.email },
  });
}

const ADDRESS = /^[^\s@]+@[^\s@]+$/;

/** Goes to the trail of the platform. What is no address may be a password in the wrong field. */
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
