/** Codes of the second factor: accepted once each, and tried only so often (spec/1-identity, MFA). */
import { type Context, errors, hashRecoveryCode, verifyTotp } from '#core';

const MOST_ATTEMPTS = 10;
const WINDOW_SECONDS = 900;

/** Where the secret is sealed to; a waiting setup seals it for the same place, so that confirming only moves it. */
export const secretPlace = (userId: string) => ({ table: 'users', column: 'mfa_secret', row: userId });

/**
 * Counts one attempt by user, whatever address it comes from. Must commit before the code is looked at, so that a wrong
 * code stays counted. Throws RATE_LIMITED with `retryAfter` in seconds.
 */
export async function countAttempt(ctx: Context, userId: string): Promise<void> {
  const { rows } = await ctx.sql<{ attempts: number; retryAfter: number }>(
    `insert into mfa_attempts as a (user_id, attempts, window_ends_at) values ($1, 1, now() + make_interval(secs => $2))
     on conflict (user_id) do update set
       attempts = case when a.window_ends_at <= now() then 1 else a.attempts + 1 end,
       window_ends_at = case when a.window_ends_at <= now() then excluded.window_ends_at else a.window_ends_at end
     returning attempts, ceil(extract(epoch from window_ends_at - now()))::int as "retryAfter"`,
    [userId, WINDOW_SECONDS],
    'identity-mfa-attempt',
  );
  const [counted] = rows;
  if (!counted || counted.attempts <= MOST_ATTEMPTS) return;
  const { retryAfter } = counted;
  throw errors.RateLimited({
    message: 'Too many codes were tried; wait before the next',
    beside: { retryAfter },
    headers: { 'retry-after': String(retryAfter) },
  });
}

export async function forgetAttempts(ctx: Context, userId: string): Promise<void> {
  await ctx.sql('delete from mfa_attempts where user_id = $1', [userId]);
}

/** Takes a code of the authenticator or a recovery code, so that it cannot be taken again. */
export async function acceptCode(ctx: Context, userId: string, code: string): Promise<boolean> {
  return (await acceptTotp(ctx, userId, code)) || acceptRecoveryCode(ctx, userId, code);
}

/** The step of an accepted code is stored by compare-and-set: of two requests with the same code one wins. */
export async function acceptTotp(ctx: Context, userId: string, code: string): Promise<boolean> {
  const { rows } = await ctx.sql<{ secret: string; lastStep: string | null }>(
    `select mfa_secret as secret, mfa_last_step as "lastStep" from users
     where id = $1 and mfa_enabled and mfa_secret is not null`,
    [userId],
  );
  const [user] = rows;
  if (!user) return false;
  const { ok, step } = verifyTotp({
    secret: ctx.platform.seal.open(user.secret, secretPlace(userId)),
    code,
    lastUsedStep: user.lastStep === null ? null : Number(user.lastStep),
  });
  if (!ok) return false;
  const { rowCount } = await ctx.sql(
    `update users set mfa_last_step = $2 where id = $1 and mfa_enabled and coalesce(mfa_last_step, 0) < $2`,
    [userId, step],
  );
  return rowCount === 1;
}

async function acceptRecoveryCode(ctx: Context, userId: string, code: string): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `update users set mfa_recovery_codes = mfa_recovery_codes - $2::text
     where id = $1 and mfa_enabled and mfa_recovery_codes ? $2::text`,
    [userId, hashRecoveryCode(code)],
  );
  return rowCount === 1;
}
