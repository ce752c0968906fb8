/** What a scope reaches: the checks that services make on ids that callers name. */
import type { Context, Scope } from '../context/index.ts';
import { holdsDevices } from '../database/reach.ts';
import {
  Forbidden,
  moduleOffHere,
  NotFound,
  OrgAccessDenied,
  SiteAccessDenied,
  TargetOutOfScope,
  ValidationFailed,
} from '../errors.ts';
import type { TenantRef } from './administrators.ts';

export function canAccessOrg(scope: Scope, orgId: string): boolean {
  return scope.orgIds === null || scope.orgIds.includes(orgId);
}

/** Where it would be reached if the route's module were on for it, that is what the caller hears. */
function mustNotBeExcluded({ excluded }: Scope, orgId: string): void {
  if (excluded?.orgIds.includes(orgId)) throw moduleOffHere(excluded.module, 'disabled_by_org');
}

/** Throws for an organization out of reach: hidden (404) from partner users, denied (403) to others. */
export function mustReachOrg(ctx: Context, orgId: string): void {
  if (canAccessOrg(ctx.scope, orgId)) return;
  mustNotBeExcluded(ctx.scope, orgId);
  throw ctx.scope.kind === 'partner' ? NotFound('Organization not found') : OrgAccessDenied();
}

/** Throws 403 for an organization named in a body or query that is out of reach. */
export function mustAccessOrg(ctx: Context, orgId: string): void {
  if (canAccessOrg(ctx.scope, orgId)) return;
  mustNotBeExcluded(ctx.scope, orgId);
  throw OrgAccessDenied();
}

/** Throws 403 where the caller is limited to other sites. */
export function mustAccessSite(ctx: Context, siteId: string | null): void {
  const { siteIds } = ctx.scope;
  if (siteIds && (siteId === null || !siteIds.includes(siteId))) throw SiteAccessDenied();
}

/** Whether the caller is limited to sites or to device groups of its organization. */
export const isLimited = ({ scope }: { readonly scope: Pick<Scope, 'siteIds' | 'groupIds'> }): boolean =>
  scope.siteIds !== null || scope.groupIds !== null;

/** Throws 403 TARGET_OUT_OF_SCOPE to callers limited to sites or groups: the operation concerns the whole organization. */
export function mustReachWholeOrg(ctx: Context): void {
  if (isLimited(ctx)) throw TargetOutOfScope();
}

/**
 * Throws 403 where the caller is limited to other sites, 404 for sites that do not exist. Callers limited to groups reach the
 * sites of their devices: 404 tells them nothing about the others.
 */
export async function mustReachSites(ctx: Context, siteIds: readonly string[]): Promise<void> {
  for (const siteId of siteIds) mustAccessSite(ctx, siteId);
  const values: unknown[] = [siteIds];
  const held = holdsDevices(ctx, 's.id', (value, type) => `$${values.push(value)}::${type}`);
  // reach: mustAccessSite above refuses those out of reach, and `held` those without a device of the caller's groups
  const { rows } = await ctx.sql<{ n: number }>(
    `select count(*)::integer as n from sites s where s.id = any($1::uuid[]) and ${held}`,
    values,
  );
  if (rows[0]?.n !== new Set(siteIds).size) throw NotFound('Site not found');
}

/** The organization a new object belongs to: the one named, or the caller's own. Throws `missing` when there is none. */
export function targetOrg(ctx: Context, named: string | null | undefined, missing: () => Error): string {
  if (ctx.scope.kind === 'organization' && ctx.scope.orgId) {
    if (named && named !== ctx.scope.orgId) throw OrgAccessDenied();
    return ctx.scope.orgId;
  }
  if (!named) throw missing();
  mustAccessOrg(ctx, named);
  return named;
}

/** Partner users who reach only some organizations may not change what concerns them all. */
export function mustReachAllOrgs(ctx: Context): void {
  if (ctx.scope.kind === 'partner' && !ctx.scope.allOrgs) throw Forbidden('Full partner organization access required');
}

/** Lets this transaction also reach an organization that it is about to create. Only partner and system callers may. */
export async function reachNewOrg(ctx: Context, orgId: string): Promise<void> {
  if (ctx.scope.kind === 'system') return;
  if (ctx.scope.kind !== 'partner') throw Forbidden();
  await ctx.sql(`select set_config('app.org_ids', (app_org_ids() || $1::uuid)::text, true)`, [orgId]);
}

/**
 * The tenant whose users and roles are administered: the caller's own, or the one named. Partner callers may name an
 * organization, system callers must name one of the two. Throws 403.
 */
export function targetTenant(
  ctx: Context,
  named: { orgId?: string | undefined; partnerId?: string | undefined } = {},
): TenantRef {
  const { kind, orgId, partnerId } = ctx.scope;
  if (named.orgId && named.partnerId) throw ValidationFailed({ details: [{ path: 'partnerId' }] });
  if (kind === 'organization' && orgId) {
    if (named.partnerId || (named.orgId && named.orgId !== orgId)) throw OrgAccessDenied();
    return { orgId, partnerId: null };
  }
  if (kind === 'partner' && partnerId) {
    mustReachAllOrgs(ctx);
    if (named.partnerId && named.partnerId !== partnerId) throw Forbidden('Access denied to this partner');
    if (!named.orgId) return { orgId: null, partnerId };
    mustAccessOrg(ctx, named.orgId);
    return { orgId: named.orgId, partnerId: null };
  }
  if (kind !== 'system' || (!named.orgId && !named.partnerId)) {
    throw Forbidden('Partner or organization context required');
  }
  return { orgId: named.orgId ?? null, partnerId: named.partnerId ?? null };
}
