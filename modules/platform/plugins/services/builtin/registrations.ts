/** Brings the shipped plugins into the catalog: each version once, by whichever process comes first. */
import type { Context, StartServices } from '#core';
import { packageHash } from '#plugin-sdk/host';
import { CatalogEntry, PluginVersion } from '../../models/catalog-entry.ts';
import { auditEntry, mustFind } from '../catalog.ts';
import { keep } from '../registrations.ts';
import { type Packed, packShipped, type Shipped, shippedPlugins } from './packages.ts';

/** A fault is logged and stops nothing: what is in the catalog already stays there. */
export async function registerShipped(services: StartServices, root?: string): Promise<void> {
  try {
    const shipped = await shippedPlugins(root);
    const missing = await services.asPlatform((ctx) => missingOf(ctx, shipped));
    const ready = await Promise.all(missing.map(async (one) => ({ one, packed: await packShipped(one) })));
    if (ready.length === 0) return;
    await services.asPlatform(async (ctx) => {
      await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('plugins.shipped', 0))`);
      const still = await missingOf(ctx, shipped);
      for (const { one, packed } of ready) if (still.includes(one)) await register(ctx, one, packed);
    });
  } catch (error) {
    services.log.error({ err: error }, 'could not register the shipped plugins');
  }
}

/** Versions that the catalog lacks. A plugin that an operator registered under the same name is left alone. */
async function missingOf(ctx: Context, shipped: readonly Shipped[]): Promise<Shipped[]> {
  const entries = await CatalogEntry.in(ctx).whereIn(
    'slug',
    shipped.map(({ manifest }) => manifest.slug),
  );
  const versions = await PluginVersion.in(ctx).whereIn(
    'catalogId',
    entries.map(({ id }) => id),
  );
  return shipped.filter(({ manifest: { slug, version } }) => {
    const entry = entries.find((one) => one.slug === slug);
    if (!entry) return true;
    if (entry.source !== 'builtin') return false;
    return !versions.some((one) => one.catalogId === entry.id && one.version === version);
  });
}

async function register(ctx: Context, { manifest }: Shipped, { content, unpackedSize }: Packed): Promise<void> {
  const { slug, version } = manifest;
  const sha256 = packageHash(content);
  await keep(ctx, { content, sha256, manifest, unpackedSize, signature: null, signedBy: null }, 'builtin', {
    allowDowngrade: true,
  });
  const entry = await mustFind(ctx, slug);
  auditEntry(ctx, 'plugin.catalog.register', entry, { version, sha256, signedBy: null, source: 'builtin' });
}
