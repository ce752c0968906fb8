/** The step between a right password and full tokens (spec/1-identity, Login and MFA flow). */
import { type Context, defineError, newOpaqueToken, sha256Hex } from '#core';
import { LOGIN_COLUMNS, type LoginUser } from '../models/user.ts';
import { letIn, recordFailure } from './logins.ts';
import type { Place } from './places.ts';
import { acceptCode, countAttempt, forgetAttempts } from './second-factors.ts';

const CHALLENGE_SECONDS = 300;

const TempTokenInvalid = defineError('TEMP_TOKEN_INVALID', 401, 'The login has expired; log in again');
const CodeWrong = defineError('INVALID_MFA_CODE', 401, 'The code is not valid');

/** @returns the token that stands for the right password for five minutes; only its hash is kept. */
export async function openChallenge(ctx: Context, userId: string, place: Place): Promise<string> {
  const token = newOpaqueToken('mfa_');
  await ctx.sql(
    `insert into mfa_challenges (token_hash, user_id, scope, partner_id, org_id, expires_at)
     values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
    [sha256Hex(token), userId, place.scope, place.partnerId, place.orgId, CHALLENGE_SECONDS],
  );
  return token;
}

type Challenged = LoginUser & Place;

const BY_TOKEN = `
select ${LOGIN_COLUMNS}, c.scope, c.partner_id as "partnerId", c.org_id as "orgId", coalesce(
  (select role_id from partner_users where user_id = users.id and partner_id = c.partner_id and c.scope = 'partner'),
  (select role_id from organization_users where user_id = users.id and org_id = c.org_id),
  (select role_id from system_users where user_id = users.id and c.scope = 'system')) as "roleId"
from mfa_challenges c join users on users.id = c.user_id and users.status = 'active' and users.mfa_enabled
where c.token_hash = $1 and c.expires_at > now()`;

/**
 * Turns a temporary token and a code, or a recovery code, into a session; each works once. Attempts are counted by user
 * and stay counted whatever comes of them. Throws TEMP_TOKEN_INVALID, INVALID_MFA_CODE, RATE_LIMITED.
 */
export async function answerChallenge(ctx: Context, input: { code: string; tempToken: string }) {
  const tokenHash = sha256Hex(input.tempToken);
  const found = await ctx.platform.asPlatform(ctx, async (own) => {
    const { rows } = await own.sql<Challenged>(BY_TOKEN, [tokenHash], 'identity-challenge');
    if (rows[0]) await countAttempt(own, rows[0].id);
    return rows[0];
  });
  if (!found?.roleId) throw TempTokenInvalid();
  if (!(await acceptCode(ctx, found.id, input.code))) {
    recordFailure(ctx, found, found, 'wrong code of the second factor');
    throw CodeWrong();
  }
  const { rowCount } = await ctx.sql('delete from mfa_challenges where token_hash = $1 and expires_at > now()', [
    tokenHash,
  ]);
  if (rowCount === 0) throw TempTokenInvalid();
  await forgetAttempts(ctx, found.id);
  return letIn(ctx, found, found, true);
}
