/** Removal of logins that were not finished. */
import type { Context } from '#core';

const BATCH = 10_000;

/** A code stays for a day after it has expired, so that its use is still detected. */
export async function sweepExpired(ctx: Context): Promise<void> {
  await ctx.sql(
    `delete from sso_sessions where id in (
       select id from sso_sessions where expires_at < now() order by expires_at limit ${BATCH})`,
  );
  await ctx.sql(
    `delete from sso_codes where code_hash in (
       select code_hash from sso_codes where expires_at < now() - interval '1 day' order by expires_at limit ${BATCH})`,
  );
}
