/** Registers a release in the catalogue after verifying the manifest, checksum and size of every program. */
import semver from 'semver';
import { type Coordinates, coordinatesOf, VERSION } from '#agent-protocol';
import { AppError, type Context, errors } from '#core';
import { ChecksumMismatch, ManifestInvalid, VersionChanged } from '../../errors.ts';
import { label } from '../../models/coordinates.ts';
import { variables } from '../../variables.ts';
import { findGithubRelease } from './github-releases.ts';
import { findLocalRelease } from './local-releases.ts';
import { readManifest, type SignedManifest } from './manifests.ts';
import { type Known, knownOf, register, type Verified } from './registrations.ts';
import { type Release, type ReleaseFile, SYNCED } from './releases.ts';
import { withStoredRelease } from './stored-releases.ts';

export interface Synced {
  version: string;
  synced: string[];
  skipped: { name: string; reason: string }[];
}
/** Registers all programs or none. Must not run within a transaction. Failures are audited as well. */
export async function syncRemote(ctx: Context, version: string | null): Promise<Synced> {
  try {
    const { objectStorage } = ctx.services.config;
    const { binarySource, binariesInStorage, binaryDir } = variables.of(ctx.services.config);
    if (binarySource === 'github') return await take(ctx, await findGithubRelease(ctx, version));
    if (objectStorage && binariesInStorage) {
      return await withStoredRelease(objectStorage, version, (release) => take(ctx, release));
    }
    return await take(ctx, await findLocalRelease(binaryDir, version));
  } catch (error) {
    if (error instanceof AppError) {
      ctx.auditAttempt('agent_version.sync.failed', {
        result: 'failure',
        resourceType: 'agent_version',
        resourceName: version ?? 'latest',
        details: { version: version ?? 'latest', code: error.code, details: error.details },
        errorMessage: error.message,
      });
    }
    throw error;
  }
}

async function take(ctx: Context, release: Release): Promise<Synced> {
  const { version } = release;
  if (!VERSION.test(version) || version.length > 20) {
    throw ManifestInvalid({ details: [{ path: 'version', message: 'the name of the release is not a version' }] });
  }
  const programs = release.files.flatMap((file) => {
    const at = coordinatesOf(file.name);
    return at && SYNCED.includes(at.component) ? [{ file, at }] : [];
  });
  if (programs.length === 0) throw errors.NotFound('The release has no programs');
  const known = await ctx.asPlatform((inner) => knownOf(inner, version));
  const checksums = readChecksums(await mustHave(release, 'checksums.txt').text());
  const verified: Verified[] = [];
  const skipped: Synced['skipped'] = [];
  for (const { file, at } of programs) {
    const signed = await manifestOf(ctx, release, file, at);
    const { sha256 } = signed.manifest;
    if (checksums.get(file.name) !== sha256) throw mismatch(file, 'checksums.txt and the manifest differ');
    const reason = reasonToSkip(ctx, known, at, signed);
    if (reason) skipped.push({ name: label(at), reason });
    else {
      await mustMatch(file, signed);
      verified.push({ ...at, signed, url: file.url });
    }
  }
  const synced = await ctx.asPlatform((inner) => register(inner, release, verified));
  // The audit entry was written with the rows.
  ctx.unchanged();
  return { version, synced: synced.map(label), skipped };
}

function mustHave({ files }: Release, name: string): ReleaseFile {
  const file = files.find((one) => one.name === name);
  if (!file) throw ManifestInvalid({ details: [{ path: name, message: 'the release has no such file' }] });
  return file;
}

async function manifestOf(ctx: Context, release: Release, file: ReleaseFile, at: Coordinates): Promise<SignedManifest> {
  const name = `${file.name}.manifest.json`;
  const manifest = await mustHave(release, name).text();
  const signature = await mustHave(release, `${file.name}.sig`).text();
  const { trustKeys } = variables.of(ctx.services.config);
  return readManifest(trustKeys, name, { manifest, signature }, { ...at, version: release.version }, new Date());
}

function reasonToSkip(
  ctx: Context,
  known: readonly Known[],
  at: Coordinates,
  { manifest }: SignedManifest,
): string | null {
  const same = known.find(
    (one) => one.component === at.component && one.platform === at.platform && one.architecture === at.architecture,
  );
  if (same && same.checksum !== manifest.sha256) {
    throw VersionChanged({ details: [{ path: label(at), registered: same.checksum, found: manifest.sha256 }] });
  }
  if (same) return 'ALREADY_REGISTERED';
  const server = semver.valid(ctx.services.config.version);
  const needs = manifest.minServerVersion;
  return needs && server && semver.lt(server, needs) ? 'SERVER_TOO_OLD' : null;
}

async function mustMatch(file: ReleaseFile, { manifest }: SignedManifest): Promise<void> {
  const { sha256, size } = await file.digest();
  if (size !== manifest.size) throw mismatch(file, `it has ${size} bytes, the manifest says ${manifest.size}`);
  if (sha256 !== manifest.sha256) throw mismatch(file, 'its SHA-256 differs from the one in the manifest');
}

const mismatch = ({ name }: ReleaseFile, message: string) => ChecksumMismatch({ details: [{ path: name, message }] });

/** Reads lines of `<sha256>  <name>`, as sha256sum writes them. */
export function readChecksums(text: string): Map<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const [, sum, name] = /^([0-9a-f]{64}) [ *](\S+)\s*$/i.exec(line) ?? [];
    return sum && name ? [[name, sum.toLowerCase()] as const] : [];
  });
  return new Map(lines);
}
