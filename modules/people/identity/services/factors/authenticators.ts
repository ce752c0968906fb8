/** Codes of the authenticator app; each is accepted once. */
import type { Context } from '#core';
import { verifyTotp } from '#core/auth';

/** The column that the secret is sealed for; a pending setup seals it for the same one, so that confirming only moves it. */
export const secretPlace = (userId: string) => ({ table: 'users', column: 'mfa_secret', row: userId });

/** The step of an accepted code is stored by compare-and-set: of two requests with the same code one wins. */
export async function acceptTotp(ctx: Context, userId: string, code: string): Promise<boolean> {
  const { rows } = await ctx.sql<{ secret: string; lastStep: string | null }>(
    `select mfa_secret as secret, mfa_last_step as "lastStep" from users
     where id = $1 and mfa_enabled and mfa_method = 'totp' and mfa_secret is not null`,
    [userId],
  );
  const [user] = rows;
  if (!user) return false;
  const { ok, step } = verifyTotp({
    secret: ctx.services.seal.open(user.secret, secretPlace(userId)),
    code,
    lastUsedStep: user.lastStep === null ? null : Number(user.lastStep),
  });
  if (!ok) return false;
  const { rowCount } = await ctx.sql(
    `update users set mfa_last_step = $2
     where id = $1 and mfa_enabled and mfa_secret = $3 and coalesce(mfa_last_step, 0) < $2`,
    [userId, step, user.secret],
  );
  return rowCount === 1;
}
