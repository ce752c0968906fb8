/** Cleaning up after logins. */
import type { Context } from '#core';

/** A row that ended is kept this long, so that a replayed refresh token is still recognised and the trail explained. */
const KEEP_SESSIONS = '30 days';
const BATCH = 10_000;

const SWEEPS = [
  `delete from sessions where id in (
     select id from sessions where expires_at < now() - interval '${KEEP_SESSIONS}' order by expires_at limit ${BATCH})`,
  `delete from mfa_challenges where token_hash in (
     select token_hash from mfa_challenges where expires_at < now() order by expires_at limit ${BATCH})`,
  `delete from mfa_setups where expires_at < now()`,
  `delete from sms_codes where expires_at < now()`,
  `delete from password_resets where expires_at < now()`,
  `delete from address_proofs where expires_at < now()`,
  `delete from mfa_attempts where window_ends_at < now()`,
];

export async function sweepExpired(ctx: Context): Promise<void> {
  for (const sweep of SWEEPS) await ctx.sql(sweep);
}
