/** Registering a package: read without trusting it, its signature verified, stored whole for every node. */
import type { BodyStream, Context } from '#core';
import { limits as LIMITS, type Manifest, packageHash, readPackage, verifyPackage } from '#plugin-sdk/host';
import { PackageInvalid, SignatureInvalid, VersionExists } from '../errors.ts';
import { CatalogEntry, PluginVersion } from '../models/catalog-entry.ts';
import { variables } from '../variables.ts';
import { auditEntry, chooseNewest, readEntry } from './catalog.ts';

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

export async function registerFrom(ctx: Context, body: BodyStream, signature: string | undefined) {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return registerPackage(ctx, Buffer.concat(chunks), signature ?? null);
}

/** Platform role. Throws PACKAGE_INVALID, SIGNATURE_INVALID and VERSION_EXISTS. The same package once more changes nothing. */
export async function registerPackage(
  ctx: Context,
  content: Buffer,
  signature: string | null,
  source: CatalogEntry['source'] = 'local',
) {
  const candidate = await examine(ctx, content, signature);
  const { sha256, signedBy, manifest } = candidate;
  await keep(ctx, candidate, source);
  const answer = await readEntry(ctx, manifest.slug);
  auditEntry(ctx, 'plugin.catalog.register', answer.data, { version: manifest.version, sha256, signedBy });
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

/** Platform role. Throws VERSION_EXISTS. */
export async function keep(
  ctx: Context,
  { content, sha256, manifest, ...kept }: Candidate,
  source: CatalogEntry['source'],
): Promise<void> {
  const { slug, name, description, author, type, category = null, tags = [], version } = manifest;
  const { homepageUrl = null, documentationUrl = null, iconUrl = null } = manifest;
  const shown = { name, description, author, type, category, tags, homepageUrl, documentationUrl, iconUrl };
  const known = await CatalogEntry.in(ctx).findOne({ slug }).forUpdate();
  const entry =
    known ??
    (await CatalogEntry.in(ctx)
      .insert({ slug, ...shown, source })
      .returning('*'));
  const there = await PluginVersion.in(ctx).findOne({ catalogId: entry.id, version });
  // Consent is bound to a package: another one of the same version would slip in under it.
  if (there && there.packageSha256 !== sha256)
    throw VersionExists({ details: [{ version, packageSha256: there.packageSha256 }] });
  await ctx.sql('insert into plugin_packages (sha256, content) values ($1, $2) on conflict do nothing', [
    sha256,
    content,
  ]);
  if (there) {
    if (kept.signedBy)
      await PluginVersion.in(ctx).findById(there.id).patch({ signature: kept.signature, signedBy: kept.signedBy });
    return;
  }
  await PluginVersion.in(ctx).insert({
    catalogId: entry.id,
    version,
    manifest,
    packageSha256: sha256,
    size: content.length,
    ...kept,
  });
  if ((await chooseNewest(ctx, entry.id)) === version) await CatalogEntry.in(ctx).findById(entry.id).patch(shown);
}
