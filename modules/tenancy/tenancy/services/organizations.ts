/** Organizations within the caller's reach; to a partner user all others do not exist. */
import { randomUUID } from 'node:crypto';
import {
  type Context,
  changesOf,
  errors,
  reachNewOrg,
  type SortKey,
  type TrackedList,
  type TrackedQuery,
  trackedPage,
} from '#core';
import { OrgLimitReached, PartnerDenied } from '../errors.ts';
import { Organization, type OrganizationCreate, type OrganizationUpdate } from '../models/organization.ts';
import { lockPartner, slugTaken } from './partners.ts';
import { mergeSettings } from './settings.ts';

const ORDER = {
  name: 'organizations-by-name',
  keys: [
    { expression: 'lower(organizations.name)', direction: 'asc', type: 'text' },
    { expression: 'organizations.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};
const LIST: TrackedList = {
  kind: 'organizations',
  within: 'organization',
  ofPartner: true,
  walk: [{ column: 'organizations.id', field: 'id' }],
};
const BRIEF = ['id', 'partnerId', 'name', 'slug', 'type', 'status'];

/** Callers of a removed partner are rejected earlier; system callers do not see its organizations either. */
function living(ctx: Context) {
  const organizations = Organization.in(ctx).whereNull('organizations.deletedAt');
  if (ctx.scope.orgIds === null)
    organizations.whereRaw(
      'exists (select from partners p where p.id = organizations.partner_id and p.deleted_at is null)',
    );
  return organizations;
}

/** Everything the caller reaches, by name, in one answer (GET /orgs/). */
export async function listReachedOrganizations(ctx: Context): Promise<{ data: Organization[] }> {
  return { data: await living(ctx).select(BRIEF).orderByRaw('lower(organizations.name), organizations.id') };
}

/** Throws 403 when a partner user names another partner. */
export function listOrganizations(ctx: Context, query: TrackedQuery & { partnerId?: string }) {
  const { partnerId } = query;
  if (partnerId && ctx.scope.kind === 'partner' && partnerId !== ctx.scope.partnerId) throw PartnerDenied();
  const organizations = living(ctx);
  if (partnerId) organizations.where({ partnerId });
  return trackedPage(ctx, organizations, query, { order: ORDER, list: LIST });
}

/** Reached organizations with the text in their names: equal ones, then those beginning with it, then the others. */
export async function searchOrganizations(ctx: Context, text: string, limit: number) {
  const rows = await living(ctx)
    .select('organizations.id', 'organizations.name')
    .whereRaw('strpos(lower(organizations.name), lower(?)) > 0', [text])
    .orderByRaw('lower(organizations.name) <> lower(?), not starts_with(lower(organizations.name), lower(?))', [
      text,
      text,
    ])
    .orderByRaw('lower(organizations.name), organizations.id')
    .limit(limit);
  const wanted = text.toLowerCase();
  return rows.map(({ id, name }) => {
    const title = name.toLowerCase();
    const place = title === wanted ? 0 : title.startsWith(wanted) ? 1 : 2;
    return { id, title: name, place } as const;
  });
}

/** The organization; 404 when it is missing, deleted or out of reach. */
export async function readOrganization(ctx: Context, id: string): Promise<Organization> {
  const organization = await living(ctx).findById(id);
  if (!organization) throw errors.NotFound('Organization not found');
  return organization;
}

function owningPartner(ctx: Context, named: string | undefined): string {
  if (ctx.scope.kind === 'system') {
    if (!named) throw errors.ValidationFailed('partnerId is required for system scope');
    return named;
  }
  const { partnerId } = ctx.scope;
  if (!partnerId) throw errors.ValidationFailed('Partner context required to create organizations');
  if (named && named !== partnerId) throw PartnerDenied();
  return partnerId;
}

/**
 * Throws ORG_LIMIT_REACHED at the partner's cap and NAME_TAKEN for a slug the partner already uses. The partner's row is
 * locked while the organizations are counted, so that two requests at once cannot both take the last place.
 */
export async function createOrganization(ctx: Context, input: OrganizationCreate): Promise<Organization> {
  const partnerId = owningPartner(ctx, input.partnerId);
  const { maxOrganizations: max } = await lockPartner(ctx, partnerId);
  if (max !== null) {
    const { rows } = await ctx.sql<{ current: number }>('select count_organizations($1) as current', [partnerId]);
    const current = rows[0]?.current ?? 0;
    if (current >= max) throw OrgLimitReached({ details: [{ current, max }] });
  }
  const id = randomUUID();
  const settings = mergeSettings(ctx, {}, input.settings ?? {});
  await mustHoldSite(ctx, id, settings);
  await keepInReach(ctx, id);
  await reachNewOrg(ctx, id);
  const organization = await Organization.query(ctx.trx)
    .insert({ ...input, id, partnerId, settings } as Partial<Organization>)
    .returning('*')
    .catch(slugTaken);
  const { status, type } = organization;
  ctx.audit('organization.create', entry(organization, { partnerId, status, type }));
  // The caller's next request may already name the new organization.
  ctx.notify('principals', '*');
  return organization;
}

/** A user with access to selected organizations gains the new one; with access to none the creation is forbidden. */
async function keepInReach(ctx: Context, orgId: string): Promise<void> {
  if (ctx.scope.kind !== 'partner' || ctx.scope.allOrgs) return;
  const { rowCount } = await ctx.sql(
    `update partner_users set org_ids = array_append(org_ids, $1::uuid)
     where user_id = $2 and partner_id = $3 and org_access = 'selected'`,
    [orgId, ctx.actor.id, ctx.scope.partnerId],
  );
  if (rowCount === 0) throw PartnerDenied();
}

/** Settings are merged, everything else replaced. Throws NO_UPDATES when nothing is given. */
export async function updateOrganization(ctx: Context, id: string, changes: OrganizationUpdate): Promise<Organization> {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  const organization = await living(ctx).findById(id).forNoKeyUpdate();
  if (!organization) throw errors.NotFound('Organization not found');
  const settings = changes.settings ? { settings: mergeSettings(ctx, organization.settings, changes.settings) } : {};
  if (changes.settings?.defaultSiteId) await mustHoldSite(ctx, id, changes.settings);
  const updated = await Organization.in(ctx)
    .findById(id)
    .patch({ ...changes, ...settings, updatedAt: new Date() } as Partial<Organization>)
    .returning('*')
    .first()
    .catch(slugTaken);
  if (!updated) throw errors.NotFound('Organization not found');
  ctx.audit('organization.update', entry(updated, { ...changesOf(organization, updated, Object.keys(changes)) }));
  return updated;
}

/** Soft delete; its sites stay, and no caller reaches them without their organization. */
export async function deleteOrganization(ctx: Context, id: string): Promise<{ success: true }> {
  const now = new Date();
  const organization = await living(ctx).findById(id).patch({ deletedAt: now, updatedAt: now }).returning('*').first();
  if (!organization) throw errors.NotFound('Organization not found');
  ctx.audit('organization.delete', entry(organization));
  return { success: true };
}

/** The default site is one of the organization's own. */
async function mustHoldSite(ctx: Context, orgId: string, { defaultSiteId }: Record<string, unknown>): Promise<void> {
  if (!defaultSiteId) return;
  // reach: only partners and the installation change organizations, and they have no limits by site
  const { rowCount } = await ctx.sql('select 1 from sites where id = $1 and org_id = $2', [defaultSiteId, orgId]);
  if (rowCount) return;
  const message = '"settings.defaultSiteId" is not a site of this organization';
  throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'settings.defaultSiteId', message }] });
}

const entry = (organization: Organization, details: Record<string, unknown> = {}) => ({
  orgId: organization.id,
  partnerId: organization.partnerId,
  resourceId: organization.id,
  resourceName: organization.name,
  details,
});
