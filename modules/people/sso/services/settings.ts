/** Rules across the settings of a provider, and who may change them. */
import { type Context, errors, mustHold } from '#core';
import { NotProven } from '../errors.ts';
import type { Provider } from '../models/provider.ts';

const fault = (path: string, message: string) =>
  errors.ValidationFailed({ message, details: [{ in: 'payload', path, message }] });

/**
 * A person who controls an identity provider can log in as any member of the organization, so only those who may do
 * everything there may say which one it is. Throws 403.
 */
export function mustControl(ctx: Context): void {
  if (ctx.scope.siteIds || ctx.scope.groupIds) throw errors.SiteAccessDenied();
  mustHold(ctx, ['*:*'], 'issuer');
}

/** Throws VALIDATION_ERROR with the path. */
export function mustHoldTogether(
  ctx: Context,
  next: Pick<Provider, 'issuer' | 'autoProvision' | 'defaultRoleId' | 'allowedDomains'>,
): void {
  const url = new URL(next.issuer);
  if (url.protocol === 'http:' && !ctx.services.config.outbound.allowHttp) {
    throw fault('issuer', 'issuer must begin with https://');
  }
  if (url.search || url.hash || url.username || url.password || next.issuer.includes('/.well-known/')) {
    throw fault('issuer', 'issuer must be the plain address of the issuer');
  }
  // These accept everyone who has an account with Microsoft.
  if (url.hostname === 'login.microsoftonline.com' && /^\/(common|organizations|consumers)(\/|$)/i.test(url.pathname)) {
    throw fault('issuer', 'issuer must name your own directory (tenant) instead of every directory');
  }
  if (!next.autoProvision) return;
  if (!next.defaultRoleId) throw fault('defaultRoleId', 'defaultRoleId is required when autoProvision is true');
  if (isGoogle(next.issuer) && next.allowedDomains.length === 0) {
    throw fault('allowedDomains', 'allowedDomains is required with autoProvision: this issuer serves everybody');
  }
}

export const isGoogle = (issuer: string): boolean => new URL(issuer).hostname === 'accounts.google.com';

/**
 * Only a provider that is known to work replaces passwords. Throws SSO_NOT_PROVEN unless a user logged in
 * through it, or a test found it within 24 hours.
 */
export async function mustBeProven(ctx: Context, providerId: string): Promise<void> {
  const { rows } = await ctx.sql<{ proven: boolean }>(
    `select exists (select from sso_identities where provider_id = $1)
       or exists (select from sso_providers where id = $1 and tested_at > now() - interval '24 hours') as proven`,
    [providerId],
  );
  if (!rows[0]?.proven) throw NotProven();
}
