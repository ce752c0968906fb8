/** Registering a package: read without trusting it, its signature verified, stored whole for every node. */
import type { BodyStream, Context } from '#core';
import { limits as LIMITS, type Manifest, packageHash, readPackage, verifyPackage } from '#plugin-sdk/host';
import { PackageInvalid, SignatureInvalid, VersionExists } from '../errors.ts';
import { CatalogEntry, PluginVersion } from '../models/catalog-entry.ts';
import { variables } from '../variables.ts';
import { auditEntry, chooseNewest, readEntry } from './catalog.ts';
import { type Decisions, mustMayPublish, mustNotBeShipped, publisherOf } from './publishers.ts';

export const PACKAGE_TYPE = 'application/gzip';
/** The size of the unpacked files is limited as well. */
export const MOST_BYTES = LIMITS.MAX_PACKAGE_BYTES;

export interface Candidate {
  content: Buffer;
  sha256: string;
  manifest: Manifest;
  unpackedSize: number;
  signature: string | null;
  signedBy: string | null;
}

export async function registerFrom(
  ctx: Context,
  body: BodyStream,
  signature: string | undefined,
  decisions: Decisions,
) {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return registerPackage(ctx, Buffer.concat(chunks), signature ?? null, decisions);
}

/** Platform role. Throws PACKAGE_INVALID, SIGNATURE_INVALID, VERSION_EXISTS and what publishers.ts throws. The same package once more changes nothing. */
export async function registerPackage(
  ctx: Context,
  content: Buffer,
  signature: string | null,
  decisions: Decisions = {},
) {
  const candidate = await examine(ctx, content, signature);
  const { sha256, signedBy, manifest } = candidate;
  await mustNotBeShipped(manifest.slug);
  const decided = await keep(ctx, candidate, 'local', decisions);
  const answer = await readEntry(ctx, manifest.slug);
  auditEntry(ctx, 'plugin.catalog.register', answer.data, {
    ...{ version: manifest.version, sha256, signedBy },
    ...(Object.keys(decided).length > 0 ? { decided } : {}),
  });
  return answer;
}

async function examine(ctx: Context, content: Buffer, signature: string | null): Promise<Candidate> {
  const sha256 = packageHash(content);
  const { allowUnsigned, trustKeys } = variables.of(ctx.services.config);
  const signedBy = signature ? verifyPackage(sha256, signature, trustKeys) : null;
  if (!signedBy && (signature || !allowUnsigned)) {
    throw SignatureInvalid(
      signature ? {} : 'The package is not signed, and this server takes signed ones only (PLUGINS_ALLOW_UNSIGNED)',
    );
  }
  try {
    const { manifest, size } = await readPackage(content);
    return { content, sha256, manifest, unpackedSize: size, signature: signedBy ? signature : null, signedBy };
  } catch (error) {
    throw PackageInvalid({
      message: (error as Error).message,
      details: (error as Error).message
        .split('\n')
        .slice(1)
        .map((message) => ({ message: message.trim() })),
    });
  }
}

/** Platform role. Throws VERSION_EXISTS, PUBLISHER_MISMATCH and VERSION_DOWNGRADE. Returns what was decided against the rules. */
export async function keep(
  ctx: Context,
  { content, sha256, manifest, ...kept }: Candidate,
  source: CatalogEntry['source'],
  decisions: Decisions = {},
): Promise<Record<string, unknown>> {
  const { slug, name, description, author, type, category = null, tags = [], version } = manifest;
  const { homepageUrl = null, documentationUrl = null, iconUrl = null } = manifest;
  const shown = { name, description, author, type, category, tags, homepageUrl, documentationUrl, iconUrl };
  const known = await CatalogEntry.in(ctx).findOne({ slug }).forUpdate();
  const publisher = publisherOf(kept.signedBy, variables.of(ctx.services.config).trustKeys);
  const entry =
    known ??
    (await CatalogEntry.in(ctx)
      .insert({ slug, ...shown, source, ...publisher })
      .returning('*'));
  const there = await PluginVersion.in(ctx).findOne({ catalogId: entry.id, version });
  // Consent is bound to a package: another one of the same version would slip in under it.
  if (there && there.packageSha256 !== sha256)
    throw VersionExists({ details: [{ version, packageSha256: there.packageSha256 }] });
  const decided = await mustMayPublish(ctx, entry, there ? null : version, publisher, decisions);
  await CatalogEntry.in(ctx).findById(entry.id).patch(publisher);
  await ctx.sql('insert into plugin_packages (sha256, content) values ($1, $2) on conflict do nothing', [
    sha256,
    content,
  ]);
  if (there) {
    // The mark of an operator stands for a version and its key.
    const isVerified = there.isVerified && !decided.publisher;
    const { signature, signedBy } = kept;
    await PluginVersion.in(ctx).findById(there.id).patch({ signature, signedBy, isVerified });
    await chooseNewest(ctx, entry.id);
    return decided;
  }
  await PluginVersion.in(ctx).insert({
    catalogId: entry.id,
    version,
    manifest,
    packageSha256: sha256,
    size: content.length,
    // What comes with the server is as the operator left the plugin; any other version is looked at anew.
    isVerified: source === 'builtin' && (known?.isVerified ?? true),
    ...kept,
  });
  if ((await chooseNewest(ctx, entry.id)) === version) await CatalogEntry.in(ctx).findById(entry.id).patch(shown);
  return decided;
}
