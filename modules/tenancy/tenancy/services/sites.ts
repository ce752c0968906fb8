/** Sites: reading, changing and removing them within the caller's reach. */
import {
  type Context,
  changesOf,
  errors,
  holdsDevices,
  isLimited,
  mustAccessOrg,
  mustAccessSite,
  type SortKey,
  type TrackedList,
  type TrackedQuery,
  trackedPage,
  wantsChanges,
} from '#core';
import { Site, type SiteCreate, type SiteUpdate } from '../models/site.ts';
import { mergePatch } from './merge.ts';
import { readOrganization } from './organizations.ts';

const ORDER = {
  name: 'sites-by-name',
  keys: [
    { expression: 'lower(sites.name)', direction: 'asc', type: 'text' },
    { expression: 'sites.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

const LIST: TrackedList = { kind: 'sites', within: 'site', walk: [{ column: 'sites.id', field: 'id' }] };

/** Throws 403 for an organization out of reach; 404 where a system caller names one that does not exist. */
export async function listSites(ctx: Context, query: TrackedQuery & { orgId?: string; organizationId?: string }) {
  const orgId = query.orgId ?? query.organizationId;
  const sites = wantsChanges(query) ? living(ctx) : visible(ctx);
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    if (ctx.scope.orgIds === null) await readOrganization(ctx, orgId);
    sites.where({ orgId });
  }
  return trackedPage(ctx, sites, query, { order: ORDER, list: LIST, show: shownTo(ctx) });
}

/** Throws 403 to people limited to device groups: they change no site. */
function mustWorkInSites(ctx: Context): void {
  if (ctx.scope.groupIds) throw errors.SiteAccessDenied();
}

/** People limited to device groups see of a site what it is called. */
const shownTo =
  (ctx: Context) =>
  (site: Site): Site =>
    ctx.scope.groupIds ? site.$set({ address: null, contact: null, settings: {} }) : site;

/** Sites of removed organizations are out of reach; the reach of a system caller does not exclude them, so this does. */
function living(ctx: Context) {
  const sites = Site.in(ctx);
  if (ctx.scope.orgIds === null)
    sites.whereRaw(
      `exists (select from organizations o join partners p on p.id = o.partner_id
         where o.id = sites.org_id and o.deleted_at is null and p.deleted_at is null)`,
    );
  return sites;
}

/** As living(); to callers limited to groups, instead of none, the sites in which they reach a device. */
function visible(ctx: Context) {
  const { orgIds, groupIds } = ctx.scope;
  if (!groupIds) return living(ctx);
  const values: unknown[] = [];
  const held = holdsDevices(ctx, 'sites.id', (value, type) => {
    values.push(value);
    return `?::${type}`;
  });
  // reach: the sites that hold a device which the caller reaches
  const sites = Site.query(ctx.trx).whereRaw(held, values as string[]);
  return orgIds ? sites.whereIn('sites.orgId', orgIds) : sites;
}

/**
 * Throws 404 for a site that does not exist, 403 for one out of reach. Callers limited to sites or groups get 403 in both cases,
 * so that they cannot find out which sites their organization has.
 */
export async function readSite(ctx: Context, id: string): Promise<Site> {
  const site = await visible(ctx).findById(id);
  if (site) return shownTo(ctx)(site);
  if (isLimited(ctx)) throw errors.SiteAccessDenied();
  const { rows } = await ctx.sql<{ known: boolean }>('select site_exists($1) as known', [id]);
  throw rows[0]?.known ? errors.SiteAccessDenied() : errors.NotFound('Site not found');
}

export async function createSite(ctx: Context, input: SiteCreate): Promise<Site> {
  mustAccessOrg(ctx, input.orgId);
  // A caller limited to sites would not reach the new one.
  mustAccessSite(ctx, null);
  mustWorkInSites(ctx);
  await readOrganization(ctx, input.orgId);
  // reach: callers limited to sites or groups are refused above
  const site = await Site.query(ctx.trx)
    .insert({ ...input, settings: mergePatch({}, input.settings ?? {}) } as Partial<Site>)
    .returning('*');
  ctx.audit('site.create', { orgId: site.orgId, resourceId: site.id, resourceName: site.name });
  return site;
}

/** Settings are merged, everything else replaced; two changes at once take turns. Throws NO_UPDATES when nothing is given. */
export async function updateSite(ctx: Context, id: string, changes: SiteUpdate): Promise<Site> {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  mustWorkInSites(ctx);
  // A caller who may not change it gets the reason from reading it.
  const site = (await living(ctx).findById(id).forNoKeyUpdate()) ?? (await readSite(ctx, id));
  const settings = changes.settings ? { settings: mergePatch(site.settings, changes.settings) } : {};
  const updated = await living(ctx)
    .where('sites.id', id)
    .patch({ ...changes, ...settings, updatedAt: new Date() } as Partial<Site>)
    .returning('*')
    .first();
  if (!updated) throw errors.NotFound('Site not found');
  ctx.audit('site.update', {
    orgId: site.orgId,
    resourceId: id,
    resourceName: updated.name,
    details: { ...changesOf(site, updated, Object.keys(changes)) },
  });
  return updated;
}

/**
 * Hard delete; 409 IN_USE while anything still lies in the site, with counts. The row is locked before they are made, so
 * that nothing is added meanwhile.
 */
export async function deleteSite(ctx: Context, id: string): Promise<{ success: true }> {
  mustWorkInSites(ctx);
  const site = await readSite(ctx, id);
  await living(ctx).findById(id).forUpdate();
  const { rows: uses } = await ctx.sql<{ usedBy: string; count: number }>(
    'select used_by as "usedBy", count from site_uses($1)',
    [id],
  );
  if (uses.length > 0) throw errors.InUse({ message: 'The site is still in use', details: uses });
  const gone = await living(ctx).where('sites.id', id).delete();
  if (gone === 0) throw errors.NotFound('Site not found');
  ctx.audit('site.delete', { orgId: site.orgId, resourceId: id, resourceName: site.name });
  return { success: true };
}

/** The site; 404 when it is missing or out of reach, 400 when it lies in another organization. */
export async function mustExistSite(ctx: Context, siteId: string, orgId: string): Promise<Site> {
  // The lock keeps the site until the caller's transaction ends, so that nothing is put into a site that is being removed.
  const site = await living(ctx).findById(siteId).forKeyShare();
  if (!site) throw errors.NotFound('Site not found');
  if (site.orgId !== orgId) throw errors.ValidationFailed('The site does not belong to the organization');
  return site;
}
