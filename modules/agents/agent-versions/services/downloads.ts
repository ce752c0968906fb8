/** Where a program is fetched: at the release host, in the object storage, or from this server as a stream. */
import { open } from 'node:fs/promises';
import { type Coordinates, fileName } from '#agent-protocol';
import { type Context, defineService, errors, type Reply, reply } from '#core';
import { equalHash } from '#core/auth';
import { ManifestNotTrusted, VersionWithdrawn } from '../errors.ts';
import { AgentVersion } from '../models/agent-version.ts';
import { variables } from '../variables.ts';
import { localPath } from './releases/local-releases.ts';
import { isTrusted } from './releases/manifests.ts';
import { PREFIX, presignedUrl } from './releases/stored-files.ts';

/** How long a link to a file of this server holds, in seconds. */
const LINK_SECONDS = 600;
const PURPOSE = 'agent-versions file';

const fileUrl = (ctx: Context, row: AgentVersion) =>
  `${ctx.services.config.http.publicUrl}/api/v1/agents/download/${row.platform}/${row.architecture}?component=${row.component}&version=${row.version}`;

/** A row as people and installers see it. */
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

/** `candidate` also takes a prerelease that somebody promoted. */
export type Channel = 'stable' | 'candidate';

/** What an installer needs of the latest version. 404 where none may be offered. */
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

/** The link of this moment, with what proves the program. 404, 409 MANIFEST_NOT_TRUSTED, 410 VERSION_WITHDRAWN. */
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

/** A link into the object storage, where the releases lie there. */
function storedUrl({ services }: Context, row: AgentVersion): string | undefined {
  const { objectStorage } = services.config;
  if (!objectStorage || !variables.of(services.config).binariesInStorage) return undefined;
  return presignedUrl(objectStorage, `${PREFIX}${row.version}/${fileName(row)}`, LINK_SECONDS, new Date());
}

/** Also opens a version that is not promoted yet, to whoever was let in to ask for it. */
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

/** A redirect to the release host, or the file. Without a signed link only what is promoted. 404, 410. */
export async function sendFile(ctx: Context, at: Coordinates, query: FileQuery): Promise<Reply> {
  const row = query.version
    ? await mustFind(ctx, query.version, at)
    : await AgentVersion.in(ctx).findOne({ ...at, isLatest: true });
  if (!row || (row.state !== 'promoted' && !isSigned(ctx, row, query))) {
    throw errors.NotFound('There is no such version');
  }
  const elsewhere = row.downloadUrl ?? storedUrl(ctx, row);
  // A link of the moment must not be kept.
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
 * The server does ranges and conditions by these headers. A file of another size is not the one that was registered. 503 while
 * as many programs are sent as may be: a whole site that updates at once must not take the API from everybody else.
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
  // Also when nobody reads it: the server destroys what it does not send.
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
