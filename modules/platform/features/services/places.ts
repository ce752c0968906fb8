/** The target of a request: an organization, a partner, or the installation. */
import { type Context, errors, type ModulePlace, mustReachAllOrgs } from '#core';
import type { SwitchOwner } from '../models/switch.ts';

/**
 * The named organization, else the caller's own organization or partner; the installation for system callers who name none.
 * Throws 404 or 403 for an organization out of reach.
 */
export async function placeOf(ctx: Context, named: { orgId?: string | undefined }): Promise<SwitchOwner> {
  const { kind, orgId, partnerId } = ctx.scope;
  const wanted = named.orgId ?? (kind === 'organization' ? orgId : null);
  if (wanted) return organizationPlace(ctx, wanted);
  if (kind === 'partner') return { level: 'partner', partnerId, orgId: null };
  return { level: 'instance', partnerId: null, orgId: null };
}

export async function organizationPlace(ctx: Context, orgId: string): Promise<SwitchOwner> {
  const { partnerId } = await ctx.use('tenancy').mustExistOrg(orgId);
  return { level: 'organization', partnerId, orgId };
}

/** The caller's partner as a whole, or the named one for system callers. Throws 403, 400 and 404. */
export async function partnerPlace(ctx: Context, named: { partnerId?: string | undefined }): Promise<SwitchOwner> {
  const own = ctx.scope.kind === 'partner' ? ctx.scope.partnerId : null;
  mustReachAllOrgs(ctx);
  if (own && named.partnerId && named.partnerId !== own) throw errors.Forbidden('Access denied to this partner');
  const partnerId = own ?? named.partnerId;
  if (!partnerId) throw errors.ValidationFailed({ message: 'partnerId is required', details: [{ path: 'partnerId' }] });
  const { rows } = await ctx.sql('select 1 from partners where id = $1 and deleted_at is null', [partnerId]);
  if (rows.length === 0) throw errors.NotFound('Partner not found');
  return { level: 'partner', partnerId, orgId: null };
}

export const whereOf = ({ partnerId, orgId }: SwitchOwner): ModulePlace => ({ partnerId, orgId });
