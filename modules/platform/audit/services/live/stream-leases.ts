/** At most five streams of a tenant over all processes; a lease that is not renewed for a minute expires. */
import { randomUUID } from 'node:crypto';
import { type Context, errors } from '#core';

const MAX_STREAMS = 5;

const tenantOf = ({ scope }: Context) =>
  scope.orgId ? `org:${scope.orgId}` : scope.partnerId ? `partner:${scope.partnerId}` : 'platform';

/** Acquires a lease; throws TOO_MANY_STREAMS. */
export async function takeLease(ctx: Context): Promise<string> {
  const id = randomUUID();
  const tenant = tenantOf(ctx);
  const taken = await ctx.asPlatform(async (platform) => {
    await platform.sql(`select pg_advisory_xact_lock(hashtextextended('audit-streams:' || $1, 0))`, [tenant]);
    await platform.sql(`delete from audit_streams where tenant = $1 and seen_at < now() - interval '1 minute'`, [
      tenant,
    ]);
    const { rowCount } = await platform.sql(
      `insert into audit_streams (id, tenant)
       select $1, $2::text where (select count(*) from audit_streams where tenant = $2) < $3`,
      [id, tenant, MAX_STREAMS],
    );
    return rowCount === 1;
  });
  if (!taken) throw errors.TooManyStreams();
  return id;
}

export const renewLease = (ctx: Context, id: string) =>
  ctx.asPlatform((platform) => platform.sql('update audit_streams set seen_at = now() where id = $1', [id]));

export const dropLease = (ctx: Context, id: string) =>
  ctx.asPlatform((platform) => platform.sql('delete from audit_streams where id = $1', [id]));
