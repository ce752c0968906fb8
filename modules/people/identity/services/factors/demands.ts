/** Conditions for changing how a user logs in. */
import { type Context, errors } from '#core';
import { MfaEnforced, ReauthenticationRequired, SmsNotAllowed } from '../../errors.ts';

/** Seconds since the login: changes to authentication require a recent one (OWASP ASVS 5, 7.5.1). */
const FRESH_SECONDS = 900;

/** Throws REAUTHENTICATION_REQUIRED unless the caller's session began within the last 15 minutes. */
export async function mustBeFresh(ctx: Context): Promise<void> {
  const { rowCount } = await ctx.sql(
    'select 1 from sessions where id = $1 and created_at > now() - make_interval(secs => $2)',
    [ctx.actor.sessionId, FRESH_SECONDS],
  );
  if (rowCount === 0) throw ReauthenticationRequired();
}

/** While MFA is on, only a session that passed it may change it. Throws MFA_VERIFICATION_REQUIRED. */
export async function mustHaveShownFactor(ctx: Context, who: { userId: string; mfa: boolean }): Promise<void> {
  if (who.mfa || !ctx.services.config.identity.twoFactor) return;
  const { rowCount } = await ctx.sql('select 1 from users where id = $1 and mfa_enabled', [who.userId]);
  if (rowCount !== 0) throw errors.MfaVerificationRequired();
}

/** Whether any organization of the user, not only that of the session, has this setting. */
async function anyOrganization(ctx: Context, userId: string, path: string[], value: string): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `select 1 from organization_users ou join organizations o on o.id = ou.org_id and o.deleted_at is null
     where ou.user_id = $1 and o.settings #>> $2::text[] = $3 limit 1`,
    [userId, path, value],
  );
  return rowCount !== 0;
}

/** Throws MFA_ENFORCED. */
export async function mayBeWithoutMfa(ctx: Context, userId: string): Promise<void> {
  if (await anyOrganization(ctx, userId, ['security', 'requireMfa'], 'true')) throw MfaEnforced();
}

export const allowsSms = async (ctx: Context, userId: string): Promise<boolean> =>
  !(await anyOrganization(ctx, userId, ['security', 'allowedMfaMethods', 'sms'], 'false'));

/** Throws SMS_NOT_ALLOWED. */
export async function mayUseSms(ctx: Context, userId: string): Promise<void> {
  if (!(await allowsSms(ctx, userId))) throw SmsNotAllowed();
}

/**
 * Call it before the caller changes how they log in: throws REAUTHENTICATION_REQUIRED for a login older than 15 minutes,
 * MFA_VERIFICATION_REQUIRED for a session that has not passed the second factor of its user.
 */
export async function mustProveFresh(ctx: Context): Promise<void> {
  await mustBeFresh(ctx);
  await mustHaveShownFactor(ctx, { userId: ctx.actor.id ?? '', mfa: ctx.actor.mfa });
}
