/** The catalog: what callers can install, and how operators register, withdraw and mark plugins. */

import semver from 'semver';
import { type Context, errors, type PageQuery, page, type SortKey } from '#core';
import { CatalogEntry, PluginVersion } from '../models/catalog-entry.ts';
import { Installation } from '../models/installation.ts';
import { permissionTexts } from './installations/consent.ts';

const ORDER = {
  name: 'plugin-catalog',
  keys: [
    // All in one direction: a cursor compares them as one row.
    { expression: '(- plugin_catalog.is_featured::integer)', direction: 'asc', type: 'bigint' },
    { expression: '(- plugin_catalog.install_count)', direction: 'asc', type: 'bigint' },
    { expression: 'plugin_catalog.slug', direction: 'asc', type: 'text' },
    // Any text could be a slug: only the id tells a forged position.
    { expression: 'plugin_catalog.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

export interface CatalogQuery extends PageQuery {
  type?: string;
  category?: string;
  search?: string;
  featured?: boolean;
  installed?: boolean;
}

/** There are no ratings; the field exists for clients that show one. */
const show = (entry: CatalogEntry) => ({ ...entry, rating: null });

export async function listCatalog(
  ctx: Context,
  { type, category, search, featured, installed, ...paging }: CatalogQuery,
) {
  const found = CatalogEntry.in(ctx);
  if (type) found.where('plugin_catalog.type', type);
  if (category) found.where('plugin_catalog.category', category);
  if (featured !== undefined) found.where('plugin_catalog.isFeatured', featured);
  if (search) {
    const text = search.toLowerCase();
    found.whereRaw(
      'strpos(lower(plugin_catalog.name || chr(10) || plugin_catalog.slug || chr(10) || plugin_catalog.description), ?) > 0',
      [text],
    );
  }
  const there = Installation.in(ctx).select('catalogId');
  if (installed === true) found.whereIn('plugin_catalog.id', there);
  if (installed === false) found.whereNotIn('plugin_catalog.id', there);
  const answer = await page(found, paging, ORDER, show);
  const own = await installedOf(
    ctx,
    answer.data.map(({ id }) => id),
  );
  return { ...answer, data: answer.data.map((entry) => ({ ...entry, installed: own.get(entry.id)?.[0] ?? null })) };
}

type Installed = Pick<Installation, 'id' | 'orgId' | 'partnerId' | 'enabled' | 'version' | 'status'>;

/** Of the organizations that the caller reaches, their own first, and the first 100 of each. */
async function installedOf(ctx: Context, catalogIds: readonly string[]) {
  const rows = await Installation.in(ctx)
    .whereIn('catalogId', catalogIds)
    .select('id', 'orgId', 'partnerId', 'enabled', 'version', 'status', 'catalogId')
    .orderByRaw('partner_id is not null, id')
    .limit(1_000);
  const found = new Map<string, Installed[]>();
  for (const { catalogId, ...one } of rows) {
    const list = found.get(catalogId) ?? [];
    if (list.length < 100) found.set(catalogId, [...list, one]);
  }
  return found;
}

export async function mustFind(ctx: Context, slug: string): Promise<CatalogEntry> {
  const entry = await CatalogEntry.in(ctx).findOne({ slug });
  if (!entry) throw errors.NotFound('Plugin not found');
  return entry;
}

/** A version that may be installed: the one that was named, or the newest. Throws 404. */
export async function mustHaveVersion(
  ctx: Context,
  entry: CatalogEntry,
  version = entry.version,
): Promise<PluginVersion> {
  const found = version
    ? await PluginVersion.in(ctx).findOne({ catalogId: entry.id, version, yanked: false })
    : undefined;
  if (!found) throw errors.NotFound(version ? `There is no version ${version}` : 'All versions were withdrawn');
  return found;
}

export async function readEntry(ctx: Context, slug: string) {
  const entry = await mustFind(ctx, slug);
  const versions = (await PluginVersion.in(ctx).where({ catalogId: entry.id })).sort((a, b) =>
    semver.rcompare(a.version, b.version),
  );
  const manifest = (versions.find(({ version }) => version === entry.version) ?? versions[0])?.manifest;
  const { hooks = [], schedules = [], actions = [], providers = [], egress = [], dependencies = [] } = manifest ?? {};
  const lowest = manifest && semver.minVersion(manifest.engine.api)?.version;
  const agent = manifest?.engine.agent && semver.minVersion(manifest.engine.agent)?.version;
  return {
    data: {
      ...show(entry),
      versions: versions.map(({ id: _i, catalogId: _c, manifest: _m, ...version }) => version),
      permissions: permissionTexts(manifest ?? {}),
      ...{ egress, hooks, schedules, actions, providers, dependencies },
      configSchema: manifest?.configSchema ?? null,
      minApiVersion: lowest ?? null,
      maxApiVersion: manifest?.engine.api ?? null,
      minAgentVersion: agent ?? null,
      installed: (await installedOf(ctx, [entry.id])).get(entry.id) ?? [],
    },
  };
}

export interface Marks {
  isVerified?: boolean;
  isFeatured?: boolean;
  isDeprecated?: boolean;
}

/** Platform role, like every change of the catalog. */
export async function markEntry(ctx: Context, slug: string, marks: Marks) {
  if (Object.keys(marks).length === 0) throw errors.NoUpdates();
  const before = await mustFind(ctx, slug);
  const { id, version } = before;
  const { isVerified } = marks;
  // The newest version, which the operator has looked at; what is taken back is taken back of all.
  if (isVerified !== undefined)
    await PluginVersion.in(ctx)
      .where({ catalogId: id, ...(isVerified ? { version } : {}) })
      .patch({ isVerified });
  await CatalogEntry.in(ctx)
    .findById(id)
    .patch({ ...marks, updatedAt: new Date() });
  const of = isVerified ? { version, publisherKey: before.publisherKey } : {};
  auditEntry(ctx, 'plugin.catalog.update', { id, slug }, { ...marks, ...of });
  return readEntry(ctx, slug);
}

export function auditEntry(
  ctx: Context,
  action: string,
  { id, slug }: Pick<CatalogEntry, 'id' | 'slug'>,
  details: Record<string, unknown>,
): void {
  ctx.audit(action, { resourceType: 'plugin_catalog', resourceId: id, resourceName: slug, details });
}

/** A withdrawn version can no longer be installed; existing installations keep running. */
export async function yankVersion(ctx: Context, slug: string, version: string, yanked: boolean) {
  const { id } = await mustFind(ctx, slug);
  const changed = await PluginVersion.in(ctx).where({ catalogId: id, version }).patch({ yanked });
  if (changed === 0) throw errors.NotFound(`There is no version ${version}`);
  await chooseNewest(ctx, id);
  auditEntry(ctx, 'plugin.catalog.yank', { id, slug }, { version, yanked });
  return readEntry(ctx, slug);
}

/** The newest version that is not withdrawn; a prerelease only where no other version exists. */
export async function chooseNewest(ctx: Context, catalogId: string): Promise<string | null> {
  const versions = await PluginVersion.in(ctx).where({ catalogId, yanked: false }).select('version', 'isVerified');
  const sorted = versions.sort((a, b) => semver.rcompare(a.version, b.version));
  const newest = sorted.find(({ version }) => semver.prerelease(version) === null) ?? sorted[0];
  const { version = null, isVerified = false } = newest ?? {};
  await CatalogEntry.in(ctx).findById(catalogId).patch({ version, isVerified, updatedAt: new Date() });
  return version;
}
