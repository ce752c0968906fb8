/** Tells the database which tenants a transaction may reach; row-level security reads it. */
import type pg from 'pg';
import type { Context, Scope } from '../context/index.ts';

/** The statement that follows `begin`; empty for a scope that names no tenant. */
export function announceStatement(client: pg.PoolClient, scope: Scope): string {
  const settings: string[] = [];
  const set = (name: string, value: string) =>
    settings.push(`set_config('${name}', ${client.escapeLiteral(value)}, true)`);
  if (scope.orgIds && scope.orgIds.length > 0) set('app.org_ids', `{${scope.orgIds.join(',')}}`);
  if (scope.kind === 'partner' && scope.partnerId) set('app.partner_id', scope.partnerId);
  if (scope.ownerPartnerId) set('app.owner_partner_id', scope.ownerPartnerId);
  return settings.length > 0 ? `; select ${settings.join(', ')}` : '';
}

/** Announces other organizations from here on. */
export async function announceOrgs(ctx: Pick<Context, 'sql'>, orgIds: readonly string[]): Promise<void> {
  await ctx.sql(`select set_config('app.org_ids', $1, true)`, [`{${orgIds}}`]);
}
