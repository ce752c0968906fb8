/** Downloads of programs: from the release host, from the object storage, or as a stream from this server. */
import { open } from 'node:fs/promises';
import { type Coordinates, fileName } from '#agent-protocol';
import { type Context, defineService, errors, presignedUrl, RELEASES_PREFIX, type Reply, reply } from '#core';
import { equalHash } from '#core/auth';
import { ManifestNotTrusted, VersionWithdrawn } from '../errors.ts';
import { AgentVersion } from '../models/agent-version.ts';
import { variables } from '../variables.ts';
import { localPath } from './releases/local-releases.ts';
import { isTrusted } from './releases/manifests.ts';

/** How long a signed link is valid, in seconds. */
const LINK_SECONDS = 600;
const PURPOSE = 'agent-versions file';

const fileUrl = (ctx: Context, row: AgentVersion) =>
  `${ctx.services.config.http.publicUrl}/api/v1/agents/download/${row.platform}/${row.architecture}?component=${row.component}&version=${row.version}`;

/** A row as users and installers see it. */
export function shown(ctx: Context, row: AgentVersion) {
  const { id, version, component, platform, architecture, checksum, fileSize } = row;
  const { manifest, manifestSignature, signingKeyId, releaseNotes } = row;
  const { prerelease, state, isLatest, createdAt, promotedAt, promotedBy, withdrawnAt } = row;
  return {
    ...{ id, version, component, platform, architecture, downloadUrl: row.downloadUrl ?? fileUrl(ctx, row) },
    ...{ checksum, fileSize, manifest, manifestSignature, signingKeyId, releaseNotes },
    ...{ prerelease, state, isLatest, createdAt, promotedAt, promotedBy, withdrawnAt },
  };
}

/** `candidate` includes promoted prereleases. */
export type Channel = 'stable' | 'candidate';

/** The latest version with what an installer needs of it. 404 where no version may be offered. */
export async function latestVersion(ctx: Context, at: Coordinates, channel: Channel): Promise<object> {
  const promoted = AgentVersion.in(ctx).where({ ...at, state: 'promoted' });
  if (channel === 'stable') promoted.where('prerelease', false);
  const row = await promoted.orderBy('sortKey', 'desc').first();
  if (!row || !trusted(ctx, row)) throw errors.NotFound('There is no such version');
  const { version, checksum, fileSize, manifest, manifestSignature, signingKeyId, releaseNotes, downloadUrl } = shown(
    ctx,
    row,
  );
  return { version, ...at, downloadUrl, checksum, fileSize, manifest, manifestSignature, signingKeyId, releaseNotes };
}

const trusted = (ctx: Context, row: AgentVersion) =>
  isTrusted(variables.of(ctx.services.config).trustKeys, row, new Date());

/** A short-lived link to a program, with its signed manifest. 404, 409 MANIFEST_NOT_TRUSTED, 410 VERSION_WITHDRAWN. */
export async function downloadLink(ctx: Context, version: string, at: Coordinates): Promise<object> {
  const row = await mustFind(ctx, version, at);
  if (!trusted(ctx, row)) throw ManifestNotTrusted();
  const { checksum, fileSize, manifest, manifestSignature, signingKeyId } = row;
  return {
    url: row.downloadUrl ?? storedUrl(ctx, row) ?? signedUrl(ctx, row),
    checksum,
    fileSize,
    manifest,
    manifestSignature,
    signingKeyId,
  };
}

async function mustFind(ctx: Context, version: string, at: Coordinates): Promise<AgentVersion> {
  const row = await AgentVersion.in(ctx).findOne({ ...at, version });
  if (!row) throw errors.NotFound('There is no such version');
  if (row.state === 'withdrawn') throw VersionWithdrawn();
  return row;
}

/** A link into the object storage; undefined where the releases are stored elsewhere. */
function storedUrl({ services }: Context, row: AgentVersion): string | undefined {
  const { objectStorage } = services.config;
  if (!objectStorage || !variables.of(services.config).binariesInStorage) return undefined;
  return presignedUrl(objectStorage, `${RELEASES_PREFIX}${row.version}/${fileName(row)}`, LINK_SECONDS, new Date());
}

/** Valid also for a version that is not promoted yet; the caller has been authenticated. */
function signedUrl(ctx: Context, row: AgentVersion): string {
  const expires = Math.floor(Date.now() / 1000) + LINK_SECONDS;
  return `${fileUrl(ctx, row)}&expires=${expires}&signature=${signatureOf(ctx, row, expires)}`;
}
const signatureOf = (ctx: Context, row: Coordinates & { version: string }, expires: number) =>
  ctx.services.mac(PURPOSE, `${row.version} ${fileName(row)} ${expires}`);

export interface FileQuery {
  version?: string;
  component: Coordinates['component'];
  expires?: number;
  signature?: string;
}

/** A redirect to the file, or the file itself. Without a signed link only promoted versions. 404, 410. */
export async function sendFile(ctx: Context, at: Coordinates, query: FileQuery): Promise<Reply> {
  const row = query.version
    ? await mustFind(ctx, query.version, at)
    : await AgentVersion.in(ctx).findOne({ ...at, isLatest: true });
  if (!row || (row.state !== 'promoted' && !isSigned(ctx, row, query))) {
    throw errors.NotFound('There is no such version');
  }
  const elsewhere = row.downloadUrl ?? storedUrl(ctx, row);
  // A short-lived link must not be cached.
  const headers = { location: elsewhere ?? '', ...(row.downloadUrl ? {} : { 'cache-control': 'no-store' }) };
  if (elsewhere) return reply(null, { status: 302, headers });
  return streamFile(ctx, row);
}

function isSigned(ctx: Context, row: AgentVersion, { expires, signature }: FileQuery): boolean {
  return (
    expires !== undefined && expires * 1000 > Date.now() && equalHash(signature ?? '', signatureOf(ctx, row, expires))
  );
}

/** The number of programs that this process is sending. */
export const DOWNLOADS = defineService<{ count: number }>('agent-versions.downloads');

/**
 * The server handles ranges and conditional requests by these headers. A file of another size was replaced since it was registered.
 * 503 while AGENT_DOWNLOADS_MAX programs are being sent, so that a site that updates as a whole does not block the API.
 */
async function streamFile(ctx: Context, row: AgentVersion): Promise<Reply> {
  const sending = ctx.services.get(DOWNLOADS);
  if (sending.count >= variables.of(ctx.services.config).downloadsMax) {
    throw errors.Unavailable({ message: 'Too many downloads at once; try again', headers: { 'retry-after': '30' } });
  }
  const path = localPath(variables.of(ctx.services.config).binaryDir, row.version, row);
  const file = await open(path).catch(() => null);
  const size = (await file?.stat())?.size;
  if (!file || size !== row.fileSize) {
    await file?.close();
    ctx.log.error({ version: row.version, file: fileName(row) }, 'a registered program is not in AGENT_BINARY_DIR');
    throw errors.NotFound('There is no such version');
  }
  sending.count += 1;
  // The server also closes streams that no client reads.
  const stream = file.createReadStream().once('close', () => {
    sending.count -= 1;
  });
  return reply(stream, {
    type: 'application/octet-stream',
    headers: {
      'content-length': String(size),
      etag: `"${row.checksum}"`,
      'content-disposition': `attachment; filename="${fileName(row)}"`,
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    },
  });
}
