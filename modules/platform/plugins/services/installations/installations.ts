/** Installations: listing, reading, beginning and removing them. */
import { randomUUID } from 'node:crypto';
import semver from 'semver';
import { type Context, errors, mustAccessOrg, type Owner, ownerOf, type PageQuery, page, type SortKey } from '#core';
import { fitsApi, type Manifest } from '#plugin-sdk/host';
import { AlreadyInstalled, DependenciesMissing, Incompatible, PluginDeprecated } from '../../errors.ts';
import { CatalogEntry } from '../../models/catalog-entry.ts';
import { Installation, type InstallationCreate, type Status } from '../../models/installation.ts';
import { mustBeUnused } from '../bridges/usage.ts';
import { mustHaveVersion } from '../catalog.ts';
import { audit, mustLock, mustSee, serving, show } from '../reach.ts';
import { CHANGED } from '../running/facts.ts';
import { mustFit, storedConfig } from './configs.ts';
import { mustGrantAll, mustMayGrant } from './consent.ts';

const ORDER = {
  name: 'plugin-installations',
  keys: [
    { expression: 'plugin_installations.slug', direction: 'asc', type: 'text' },
    { expression: 'plugin_installations.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

export interface InstallationQuery extends PageQuery {
  orgId?: string;
  status?: Status;
  enabled?: boolean;
}

export function listInstallations(ctx: Context, { orgId, status, enabled, ...paging }: InstallationQuery) {
  const found = Installation.in(ctx);
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    serving(found, orgId);
  }
  if (status) found.where('plugin_installations.status', status);
  if (enabled !== undefined) found.where('plugin_installations.enabled', enabled);
  return page(found, paging, ORDER, (one) => show(ctx, one));
}

export async function readInstallation(ctx: Context, id: string) {
  return { data: show(ctx, await mustSee(ctx, id)) };
}

/**
 * Begins an installation; a job verifies the package and runs `onInstall`. Throws PLUGIN_DEPRECATED, INCOMPATIBLE,
 * PERMISSION_NOT_GRANTED, CONFIG_INVALID, DEPENDENCIES_MISSING and ALREADY_INSTALLED.
 */
export async function install(
  ctx: Context,
  {
    slug,
    catalogId,
    orgId: org,
    partnerId: partner,
    version: wanted,
    config = {},
    grantPermissions,
  }: InstallationCreate,
) {
  const owner = ownerOf(ctx, { ...(org ? { orgId: org } : {}), ...(partner ? { partnerId: partner } : {}) });
  const entry = await CatalogEntry.in(ctx).findOne(slug ? { slug } : { id: catalogId });
  if (!entry) throw errors.NotFound('Plugin not found');
  if (entry.isDeprecated) throw PluginDeprecated();
  const target = await mustHaveVersion(ctx, entry, wanted);
  const { version, manifest, packageSha256 } = target;
  mustBeCompatible(manifest);
  mustMayGrant(ctx, target, manifest, grantPermissions);
  mustGrantAll(manifest, grantPermissions);
  mustFit(manifest.configSchema, config, false);
  await mustHaveDependencies(ctx, owner, manifest);
  const id = randomUUID();
  const installation = await Installation.query(ctx.trx)
    .insert({
      ...{ id, ...owner, catalogId: entry.id, slug: entry.slug, version, packageSha256 },
      ...storedConfig(ctx, id, manifest, config),
      grantedPermissions: grantPermissions,
      installedBy: ctx.actor.kind === 'user' ? ctx.actor.id : null,
    })
    .onConflict()
    .ignore()
    .returning('*');
  if (!installation?.status) throw AlreadyInstalled();
  audit(ctx, 'plugin.install', installation, { version, packageSha256, grantedPermissions: grantPermissions });
  ctx.addJob('plugins/install', { installationId: id }, { orgId: owner.orgId, key: `plugin:${id}` });
  return { data: show(ctx, installation) };
}

export function mustBeCompatible(manifest: Manifest): void {
  if (fitsApi(manifest)) return;
  throw Incompatible({ details: [{ engine: manifest.engine }] });
}

/** Throws DEPENDENCIES_MISSING with the list. @param enabled where they must also run */
export async function mustHaveDependencies(
  ctx: Context,
  { orgId, partnerId }: Owner,
  { dependencies = [] }: Manifest,
  enabled = false,
): Promise<void> {
  if (dependencies.length === 0) return;
  const slugs = dependencies.map(({ slug }) => slug);
  const named = Installation.in(ctx).whereIn('slug', slugs);
  const there = await (orgId ? serving(named, orgId) : named.where({ partnerId }));
  const missing = dependencies.filter(
    ({ slug, range }) =>
      !there.some(
        (one) =>
          one.slug === slug &&
          one.status === 'installed' &&
          semver.satisfies(one.version, range) &&
          (!enabled || one.enabled),
      ),
  );
  if (missing.length > 0) throw DependenciesMissing({ details: missing });
}

/** Installations whose manifests name this one and which it serves: of the same owner, and of a partner's organizations. */
export async function dependentsOf(
  ctx: Context,
  { id, orgId, partnerId, slug }: Installation,
  onlyEnabled: boolean,
): Promise<{ id: string; slug: string }[]> {
  const { rows } = await ctx.sql<{ id: string; slug: string }>(
    `select i.id, i.slug from plugin_installations i
       join plugin_versions v on v.catalog_id = i.catalog_id and v.version = i.version
     where (i.org_id = $1 or i.partner_id = $5 or exists (
         select from organizations o where o.id = i.org_id and o.partner_id = $5
           and $2 in (select s.id from plugins_serving(o.id) s)))
       and i.id <> $2 and i.status <> 'uninstalling' and (i.enabled or not $4)
       and v.manifest -> 'dependencies' @> jsonb_build_array(jsonb_build_object('slug', $3::text))
     order by i.slug, i.id`,
    [orgId, id, slug, onlyEnabled, partnerId],
  );
  return rows;
}

/** Begins the removal; a job runs `onUninstall` and takes the rest away. Throws HAS_DEPENDENTS, PLUGIN_IN_USE and INVALID_STATE. */
export async function uninstall(ctx: Context, id: string, keepData: boolean) {
  const installation = await mustLock(ctx, id);
  const dependents = await dependentsOf(ctx, installation, false);
  if (dependents.length > 0)
    throw errors.HasDependents({ message: 'Other plugins depend on this one', details: dependents });
  await mustBeUnused(ctx, installation);
  const changed = await Installation.in(ctx)
    .findById(id)
    .whereIn('status', ['installed', 'error'])
    .patch({ status: 'uninstalling', enabled: false, keepData, statusSince: new Date(), updatedAt: new Date() });
  if (changed === 0)
    throw errors.InvalidState({ details: [{ current: installation.status, allowed: ['installed', 'error'] }] });
  audit(ctx, 'plugin.uninstall', installation, { version: installation.version, keepData });
  ctx.notify(CHANGED, id);
  ctx.addJob('plugins/uninstall', { installationId: id }, { orgId: installation.orgId, key: `plugin:${id}` });
  return { success: true };
}
