/** Who may publish what: a slug belongs to the key that signed it first, and versions only rise. An operator may decide otherwise. */
import semver from 'semver';
import type { Context } from '#core';
import { keyFingerprint, type TrustedKey } from '#plugin-sdk/host';
import { PublisherMismatch, SlugReserved, VersionDowngrade } from '../errors.ts';
import { type CatalogEntry, PluginVersion } from '../models/catalog-entry.ts';
import { shippedSlugs } from './builtin/packages.ts';

/** What an operator decides with a registration. */
export interface Decisions {
  /** A version lower than the highest that is there. */
  allowDowngrade?: boolean;
  /** The slug belongs to the key of this package from now on. */
  changePublisher?: boolean;
}
export interface Publisher {
  publisherKey: string | null;
  publisherFingerprint: string | null;
}

export function publisherOf(signedBy: string | null, keys: readonly TrustedKey[]): Publisher {
  const key = keys.find(({ id }) => id === signedBy);
  return { publisherKey: key?.id ?? null, publisherFingerprint: key ? keyFingerprint(key) : null };
}

/** Throws SLUG_RESERVED: the plugins that come with the server keep their names, also before they are registered. */
export async function mustNotBeShipped(slug: string): Promise<void> {
  if ((await shippedSlugs()).includes(slug)) throw SlugReserved({ details: [{ slug }] });
}

/**
 * Throws PUBLISHER_MISMATCH and VERSION_DOWNGRADE. Returns what was decided against the rule, with before and after.
 * @param version null for one that is there already
 */
export async function mustMayPublish(
  ctx: Context,
  entry: CatalogEntry,
  version: string | null,
  given: Publisher,
  { allowDowngrade = false, changePublisher = false }: Decisions,
): Promise<Record<string, { before: unknown; after: unknown }>> {
  const decided: Record<string, { before: unknown; after: unknown }> = {};
  const isSame =
    entry.publisherKey === given.publisherKey &&
    (entry.publisherFingerprint === null || entry.publisherFingerprint === given.publisherFingerprint);
  if (!isSame) {
    const details = [{ path: 'signature', expected: entry.publisherKey, given: given.publisherKey }];
    if (!changePublisher) throw PublisherMismatch({ details });
    decided.publisher = {
      before: { key: entry.publisherKey, fingerprint: entry.publisherFingerprint },
      after: { key: given.publisherKey, fingerprint: given.publisherFingerprint },
    };
  }
  if (version === null) return decided;
  const versions = await PluginVersion.in(ctx).where({ catalogId: entry.id, yanked: false }).select('version');
  const [highest] = versions.map((one) => one.version).sort(semver.rcompare);
  if (highest && semver.lt(version, highest)) {
    if (!allowDowngrade) throw VersionDowngrade({ details: [{ path: 'version', highest, given: version }] });
    decided.version = { before: highest, after: version };
  }
  return decided;
}

/** Throws VERSION_DOWNGRADE where an installation would go back without being told to. */
export function mustNotGoBack(before: string, version: string, allowDowngrade: boolean): void {
  if (semver.lt(version, before) && !allowDowngrade)
    throw VersionDowngrade({ details: [{ path: 'version', installed: before, given: version }] });
}
