/** The step of a login between the correct password and full tokens. */
import type { Context } from '#core';
import { newOpaqueToken, sha256Hex } from '#core/auth';
import { CodeWrong, TempTokenInvalid } from '../../errors.ts';
import { LOGIN_COLUMNS, type LoginUser } from '../../models/user.ts';
import { tell } from '../accounts/notices.ts';
import { countAttempt, forgetAttempts } from '../factors/attempts.ts';
import { acceptRecoveryCode } from '../factors/recovery-codes.ts';
import { acceptCode } from '../factors/second-factors.ts';
import { letIn, recordFailure } from './login-results.ts';
import { type Membership, roleAt } from './places.ts';

const CHALLENGE_SECONDS = 300;

/** @returns the temporary token that represents the correct password for five minutes; only its hash is stored. */
export async function openChallenge(ctx: Context, userId: string, place: Membership): Promise<string> {
  const token = newOpaqueToken('mfa_');
  await ctx.sql(
    `insert into mfa_challenges (token_hash, user_id, scope, partner_id, org_id, expires_at)
     values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
    [sha256Hex(token), userId, place.scope, place.partnerId, place.orgId, CHALLENGE_SECONDS],
  );
  return token;
}

export type Challenged = LoginUser & Membership;

const BY_TOKEN = `
select ${LOGIN_COLUMNS}, c.scope, c.partner_id as "partnerId", c.org_id as "orgId", ${roleAt('c')} as "roleId"
from mfa_challenges c join users on users.id = c.user_id and users.status = 'active' and users.mfa_enabled
where c.token_hash = $1 and c.expires_at > now()`;

/** The user of a temporary token. Needs the platform's role. Throws TEMP_TOKEN_INVALID. */
export async function findChallenge(ctx: Context, tempToken: string): Promise<Challenged> {
  const { rows } = await ctx.sql<Challenged>(BY_TOKEN, [sha256Hex(tempToken)], 'identity-challenge');
  if (!rows[0]?.roleId) throw TempTokenInvalid();
  return rows[0];
}

/** The same, and counts an attempt regardless of the result. Throws TEMP_TOKEN_INVALID, RATE_LIMITED. */
export function challenged(ctx: Context, tempToken: string): Promise<Challenged> {
  return ctx.asPlatform(async (own) => {
    const found = await findChallenge(own, tempToken);
    await countAttempt(own, found.id);
    return found;
  });
}

/**
 * Consumes the temporary token and opens the session of its user, who has shown a second factor. Throws TEMP_TOKEN_INVALID.
 * @param via the factor that was shown, for the audit trail
 */
export async function finishChallenge(ctx: Context, tempToken: string, who: Challenged, via = 'second factor') {
  const { rowCount } = await ctx.sql('delete from mfa_challenges where token_hash = $1 and expires_at > now()', [
    sha256Hex(tempToken),
  ]);
  if (rowCount === 0) throw TempTokenInvalid();
  await forgetAttempts(ctx, who.id);
  return letIn(ctx, who, who, { mfa: true, via });
}

/**
 * Turns a temporary token and a code or recovery code into a session; each works once. Attempts are counted by user and
 * stay counted regardless of the result. Throws TEMP_TOKEN_INVALID, INVALID_MFA_CODE, RATE_LIMITED.
 */
export async function answerChallenge(ctx: Context, input: { code: string; tempToken: string }) {
  const { code, tempToken } = input;
  const found = await challenged(ctx, tempToken);
  const method = found.mfaMethod ?? 'totp';
  if (await acceptCode(ctx, found.id, method, code, { purpose: 'login', boundTo: sha256Hex(tempToken) })) {
    return finishChallenge(ctx, tempToken, found, method);
  }
  if (await acceptRecoveryCode(ctx, found.id, code)) {
    tell(ctx, found.email, 'recovery-code-used');
    return finishChallenge(ctx, tempToken, found, 'recovery code');
  }
  recordFailure(ctx, found, found, 'wrong code of the second factor');
  throw CodeWrong();
}
