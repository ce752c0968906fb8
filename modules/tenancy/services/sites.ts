/** Sites: reading, changing and removing them within the caller's reach. */
import { type Context, errors, mustAccessOrg, mustAccessSite, type PageQuery, page, type SortKey } from '#core';
import { Site, type SiteCreate, type SiteUpdate } from '../models/site.ts';
import { readOrganization } from './organizations.ts';

const ORDER = {
  name: 'sites-by-name',
  keys: [
    { expression: 'lower(sites.name)', direction: 'asc', type: 'text' },
    { expression: 'sites.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

export function listSites(ctx: Context, query: PageQuery & { orgId?: string; organizationId?: string }) {
  const orgId = query.orgId ?? query.organizationId;
  const sites = Site.in(ctx);
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    sites.where({ orgId });
  }
  return page(sites, query, ORDER);
}

/** One statement: what the caller does not reach is not found (spec/2-tenancy, Sites). */
export async function readSite(ctx: Context, id: string): Promise<Site> {
  const site = await Site.in(ctx).findById(id);
  if (!site) throw errors.NotFound('Site not found');
  return site;
}

export async function createSite(ctx: Context, input: SiteCreate): Promise<Site> {
  mustAccessOrg(ctx, input.orgId);
  // A caller limited to some sites would not reach the new one.
  mustAccessSite(ctx, null);
  await readOrganization(ctx, input.orgId);
  const site = await Site.query(ctx.trx)
    .insert(input as Partial<Site>)
    .returning('*');
  ctx.audit('site.create', { orgId: site.orgId, resourceId: site.id, resourceName: site.name });
  return site;
}

/** Throws NO_UPDATES when nothing is given. */
export async function updateSite(ctx: Context, id: string, changes: SiteUpdate): Promise<Site> {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  const site = await readSite(ctx, id);
  const updated = await Site.in(ctx)
    .where({ id })
    .patch({ ...changes, updatedAt: new Date() } as Partial<Site>)
    .returning('*')
    .first();
  if (!updated) throw errors.NotFound('Site not found');
  ctx.audit('site.update', {
    orgId: site.orgId,
    resourceId: id,
    resourceName: updated.name,
    details: { changedFields: Object.keys(changes) },
  });
  return updated;
}

/** Hard delete; refused while anything (a device, an enrollment key) still points to the site. */
export async function deleteSite(ctx: Context, id: string): Promise<{ success: true }> {
  const site = await readSite(ctx, id);
  await Site.in(ctx)
    .where({ id })
    .delete()
    .catch((error: { nativeError?: { code?: string; table?: string } }) => {
      if (error.nativeError?.code !== '23503') throw error;
      throw errors.InUse({ message: 'The site is still in use', details: [{ usedBy: error.nativeError.table }] });
    });
  ctx.audit('site.delete', { orgId: site.orgId, resourceId: id, resourceName: site.name });
  return { success: true };
}

export async function mustExistSite(ctx: Context, siteId: string, orgId: string): Promise<Site> {
  const site = await readSite(ctx, siteId);
  if (site.orgId !== orgId) throw errors.ValidationFailed('The site does not belong to the organization');
  return site;
}
