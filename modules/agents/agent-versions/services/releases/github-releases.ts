/** Releases of a repository on GitHub or a host with the same API, through the guarded HTTP client. */
import { createHash } from 'node:crypto';
import { type Context, errors, UpstreamError, UrlBlockedError } from '#core';
import { ReleaseSourceMissing, UpstreamFailed } from '../../errors.ts';
import { variables } from '../../variables.ts';
import { keepAnswer, keptAnswer } from './release-answers.ts';
import { MAX_PROGRAM_BYTES, MAX_TEXT_BYTES, type Release, type ReleaseFile } from './releases.ts';

const API_TIMEOUT_MS = 20_000;
/** Timeout for the download of one program. */
const DOWNLOAD_TIMEOUT_MS = 600_000;
const MAX_API_BYTES = 4 * 1024 * 1024;
const MAX_ASSETS = 200;
const MAX_REDIRECTS = 3;

interface ReleaseAnswer {
  tag_name: string;
  prerelease: boolean;
  draft: boolean;
  body: string | null;
  assets: { name: string; url: string; browser_download_url: string }[];
}

/** Must not run within a transaction: it makes HTTP requests. */
export async function findGithubRelease(ctx: Context, version: string | null): Promise<Release> {
  const { repo, apiUrl } = variables.of(ctx.services.config).release;
  if (!repo) throw ReleaseSourceMissing('AGENT_RELEASE_REPO is not set');
  // The API's `latest` is the newest release that is neither a draft nor a prerelease.
  const which = version === null ? ['latest'] : [`tags/v${version}`, `tags/${version}`];
  for (const path of which) {
    const answer = await askApi(ctx, `${apiUrl}/repos/${repo}/releases/${path}`);
    if (answer) return releaseOf(ctx, answer);
  }
  throw errors.NotFound('Release not found');
}

/** Null for 404. An unchanged answer (304) does not count against the rate limit of the host. */
async function askApi(ctx: Context, url: string): Promise<ReleaseAnswer | null> {
  const { token } = variables.of(ctx.services.config).release;
  const kept = await keptAnswer(ctx, url);
  const response = await guarded(() =>
    ctx.services.http.request(url, {
      headers: {
        accept: 'application/vnd.github+json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(kept ? { 'if-none-match': kept.etag } : {}),
      },
      timeoutMs: API_TIMEOUT_MS,
      maxBytes: MAX_API_BYTES,
    }),
  );
  if (response.status === 404) return null;
  if (response.status === 304 && kept) return kept.body as ReleaseAnswer;
  if (response.status !== 200) throw UpstreamFailed(`The release host answered ${response.status}`);
  const body = await guarded(async () => response.json());
  if (!isRelease(body)) throw UpstreamFailed('The release host returned something other than a release');
  const { etag } = response.headers;
  if (typeof etag === 'string' && etag.length <= 300) await keepAnswer(ctx, url, etag, body);
  return body;
}

function isRelease(body: unknown): body is ReleaseAnswer {
  const { tag_name, assets } = (body ?? {}) as Partial<ReleaseAnswer>;
  return (
    typeof tag_name === 'string' &&
    Array.isArray(assets) &&
    assets.length <= MAX_ASSETS &&
    assets.every((one) => typeof one?.name === 'string' && typeof one.browser_download_url === 'string')
  );
}

function releaseOf(ctx: Context, { tag_name, body, assets }: ReleaseAnswer): Release {
  const files = assets.map(
    ({ name, browser_download_url: url }): ReleaseFile => ({
      name,
      url,
      async text() {
        const parts: Uint8Array[] = [];
        await download(ctx, url, MAX_TEXT_BYTES, API_TIMEOUT_MS, (chunk) => parts.push(chunk));
        return Buffer.concat(parts).toString('utf8');
      },
      async digest() {
        const hash = createHash('sha256');
        let size = 0;
        await download(ctx, url, MAX_PROGRAM_BYTES, DOWNLOAD_TIMEOUT_MS, (chunk) => {
          hash.update(chunk);
          size += chunk.length;
        });
        return { sha256: hash.digest('hex'), size };
      },
    }),
  );
  return { version: tag_name.replace(/^v/, ''), source: 'github', notes: body?.slice(0, 20_000) ?? null, files };
}

/** Follows redirects itself: each must lead to a host that the operator allows. Sends no token, since assets are public. */
async function download(
  ctx: Context,
  from: string,
  maxBytes: number,
  timeoutMs: number,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  let url = from;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const { hostname } = mayFetch(ctx, url);
    const response = await guarded(() => ctx.services.http.request(url, { timeoutMs, maxBytes, sink: take }));
    const { location } = response.headers;
    if (response.status === 200) return;
    if (![301, 302, 303, 307, 308].includes(response.status) || typeof location !== 'string') {
      throw UpstreamFailed(`${hostname} answered ${response.status} for an asset`);
    }
    url = URL.parse(location, url)?.href ?? '';
  }
  throw UpstreamFailed('There were too many redirects');
}

function mayFetch(ctx: Context, url: string): URL {
  const parsed = URL.parse(url);
  const { assetHosts } = variables.of(ctx.services.config).release;
  if (!parsed || !assetHosts.includes(parsed.hostname)) {
    throw UpstreamFailed(`Assets may not come from ${parsed?.hostname ?? 'this URL'}: see AGENT_RELEASE_ASSET_HOSTS`);
  }
  return parsed;
}

async function guarded<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UrlBlockedError || error instanceof UpstreamError) throw UpstreamFailed(error.message);
    throw error;
  }
}
