/** Providers that accept logins now: active ones of organizations that are open. */
import type { Context } from '#core';
import { Provider } from '../models/provider.ts';

const OPEN = `exists (
  select from organizations o join partners p on p.id = o.partner_id
  where o.id = sso_providers.org_id and o.status in ('active', 'trial') and o.deleted_at is null
    and p.status = 'active' and p.deleted_at is null)`;

/** Null without one, for any reason. Needs the platform role: a user who logs in reaches nothing yet. */
export async function servingProvider(ctx: Context, of: { id: string } | { orgId: string }): Promise<Provider | null> {
  const provider = await Provider.query(ctx.trx)
    .where({ ...of, status: 'active' })
    .whereRaw(OPEN)
    .first();
  // Also in the middle of a login.
  const off = provider && ctx.services.modules.off('sso', { orgId: provider.orgId });
  return provider && !off ? provider : null;
}

/** What a login page must know of an organization; an unknown one is like one without single sign-on. */
export async function checkOrg(ctx: Context, orgId: string) {
  const provider = await servingProvider(ctx, { orgId });
  return {
    enabled: provider !== null,
    provider: provider && { name: provider.name, type: provider.type },
    enforceSSO: provider?.enforceSso ?? false,
  };
}

/** Those of the organizations whose active provider forbids passwords. Needs the platform role. */
export async function enforcedOrgs(ctx: Context, orgIds: readonly string[]): Promise<string[]> {
  const { rows } = await ctx.sql<{ orgId: string }>(
    `select org_id as "orgId" from sso_providers where org_id = any($1::uuid[]) and status = 'active' and enforce_sso`,
    [orgIds],
    'sso-enforced',
  );
  return rows.map(({ orgId }) => orgId);
}
