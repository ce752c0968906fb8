/** Signed releases for the tests of this module: in a folder, or at a fake release host. */
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVERYWHERE, NOBODY } from '#core';
import { runUnitOfWork } from '#core/work';
import {
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  type FakeAgent,
  startTestPlatform,
  type TestPlatform,
} from '#test';
import { signFolder, signProgram, trustKeyOf } from '../../../../agent/signing/folder.ts';

export interface Signer {
  key: KeyObject;
  keyId: string;
  trust: string;
}
export function newSigner(keyId = 'release-1'): Signer {
  const key = generateKeyPairSync('ed25519').privateKey;
  return { key, keyId, trust: trustKeyOf(keyId, key) };
}
export const signer = newSigner();

export const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
export const programOf = (version: string, name: string): string => `#!/bin/sh\necho ${name} ${version}\n`;
export const NAMES = ['agent-linux-amd64', 'agent-windows-amd64.exe', 'watchdog-linux-amd64'];

export const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'agent-binaries-'));

/** A release in a folder, as `npm run sign-agent` leaves it. */
export async function layOut(
  folder: string,
  version: string,
  names: readonly string[] = NAMES,
  more: Partial<Parameters<typeof signFolder>[1]> = {},
): Promise<string> {
  const place = join(folder, version);
  await mkdir(place, { recursive: true });
  for (const name of names) await writeFile(join(place, name), programOf(version, name));
  await signFolder(place, { version, ...signer, ...more });
  return place;
}

/** A platform whose releases lie in a folder of its own. */
export async function startLocal(env: Record<string, string> = {}): Promise<{ test: TestPlatform; folder: string }> {
  const folder = await newFolder();
  const test = await startTestPlatform({
    BINARY_SOURCE: 'local',
    AGENT_BINARY_DIR: folder,
    AGENT_TRUST_KEYS: signer.trust,
    TRUST_PROXY_HEADERS: 'true',
    ...env,
  });
  return { test, folder };
}

export interface Synced extends ErrorBody {
  version: string;
  synced: string[];
  skipped: { name: string; reason: string }[];
}
export const sync = (test: TestPlatform, token: string, version?: string) =>
  test.call<Synced>('POST', `/agent-versions/sync-remote${version ? `?version=${version}` : ''}`, { token });

export interface VersionSeen {
  id: string;
  version: string;
  component: string;
  platform: string;
  architecture: string;
  state: string;
  isLatest: boolean;
  deviceCount: number;
  checksum: string;
  downloadUrl: string;
}
export async function versions(test: TestPlatform, token: string, query = ''): Promise<VersionSeen[]> {
  return (await test.call<{ data: VersionSeen[] }>('GET', `/agent-versions?${query}`, { token })).body.data;
}
export async function versionId(test: TestPlatform, version: string, component = 'agent'): Promise<string> {
  const [row] = await test.sql<{ id: string }>(
    `select id from agent_versions where version = $1 and component = $2 and platform = 'linux'`,
    [version, component],
  );
  return row?.id ?? '';
}

export const newAgent = async (
  test: TestPlatform,
  at: { orgId: string; siteId: string },
  more: Record<string, unknown> = {},
): Promise<FakeAgent> => {
  // Enrollments are limited by address.
  const address = `10.${Array.from({ length: 3 }, () => Math.floor(Math.random() * 250)).join('.')}`;
  const headers = { 'x-forwarded-for': address };
  return enrollAgent(test, { key: await enrollmentKey(test, at), headers, ...more });
};

export interface Offer {
  version: string;
  url: string;
  sha256: string;
  allowDowngrade?: boolean;
}
export interface HeartbeatAnswer extends ErrorBody {
  upgradeTo: Offer | null;
  watchdogUpgradeTo: Offer | null;
  manifestTrustKeys: string[];
}
/** The answer to a heartbeat that names these versions; a plain text is the agent's own. */
export async function sendHeartbeat(
  agent: FakeAgent,
  versions: string | object = '1.0.0',
  token?: string,
): Promise<HeartbeatAnswer> {
  const named = typeof versions === 'string' ? { agentVersion: versions } : versions;
  return (await agent.call<HeartbeatAnswer>('POST', 'heartbeat', { status: 'ok', ...named }, token)).body;
}
export const report = (agent: FakeAgent, targetVersion: string, state: string, more: object = {}) =>
  agent.call<{ changed: boolean } & ErrorBody>('POST', 'update-status', { targetVersion, state, ...more });

export interface AttemptSeen {
  id: string;
  state: string;
  reason: string | null;
  attempt: number;
  to_version: string;
  component: string;
}
export const attempts = (test: TestPlatform, deviceId: string): Promise<AttemptSeen[]> =>
  test.sql<AttemptSeen & Record<string, unknown>>(
    `select id, state, reason, attempt, to_version, component from agent_update_attempts where device_id = $1
     order by started_at, attempt`,
    [deviceId],
  );

/** Moves all times of a device's attempts into the past. */
export const age = (test: TestPlatform, deviceId: string, interval: string): Promise<unknown> =>
  test.sql(
    `update agent_update_attempts set started_at = started_at - $2::interval, updated_at = updated_at - $2::interval,
       finished_at = finished_at - $2::interval where device_id = $1`,
    [deviceId, interval],
  );

/** Clears the caches of this process, as a restart would. */
export const forget = (test: TestPlatform): void => {
  for (const channel of ['agent-versions.device', 'agent-versions.catalog']) {
    test.platform.tasks.work.deliverNotice(channel, '*');
  }
};

export async function runJob(test: TestPlatform, name: 'sync-versions' | 'sweep-attempts' | 'evaluate-rings') {
  const known = test.platform.tasks.registry.jobs.get(`agent-versions/${name}`);
  if (!known) throw new Error(`no job ${name}`);
  const { work, log } = test.platform.tasks;
  const options = { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' as const };
  await runUnitOfWork(work, options, (ctx) => known.job.run(ctx, {}));
}

export const setPolicy = async (
  test: TestPlatform,
  level: { orgId: string } | { partnerId: string },
  policy: object,
): Promise<void> => {
  const [table, id] = 'orgId' in level ? ['organizations', level.orgId] : ['partners', level.partnerId];
  await test.sql(`update ${table} set settings = jsonb_set(settings, '{agent-versions}', $2::jsonb) where id = $1`, [
    id,
    JSON.stringify(policy),
  ]);
  forget(test);
};

/** A release host on this machine that speaks GitHub's API, with an asset host behind redirects. */
export class ReleaseHost {
  readonly releases = new Map<string, { prerelease: boolean; files: Map<string, Buffer> }>();
  readonly asked: { path: string; headers: IncomingHttpHeaders; status: number }[] = [];
  /** Where assets are redirected to; the host's own address when null. */
  assetsAt: string | null = null;
  #server = createServer((request, response) => {
    const path = request.url ?? '';
    const { status, headers = {}, body = '' } = this.#answer(path, request.headers);
    this.asked.push({ path, headers: request.headers, status });
    response.writeHead(status, headers).end(body);
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  get env(): Record<string, string> {
    return {
      BINARY_SOURCE: 'github',
      AGENT_RELEASE_REPO: 'acme/agent',
      AGENT_RELEASE_API_URL: this.url,
      AGENT_RELEASE_ASSET_HOSTS: '127.0.0.1',
      AGENT_RELEASE_TOKEN: 'release-token',
      AGENT_TRUST_KEYS: signer.trust,
      OUTBOUND_ALLOW_HTTP: 'true',
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    };
  }
  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  publish(version: string, names: readonly string[] = NAMES, by: Signer = signer): Map<string, Buffer> {
    const files = new Map<string, Buffer>();
    let sums = '';
    for (const name of names) {
      const bytes = Buffer.from(programOf(version, name));
      const file = { sha256: sha256(bytes), size: bytes.length };
      const { text, signature } = signProgram(name, file, { version, ...by }, new Date());
      files.set(name, bytes);
      files.set(`${name}.manifest.json`, Buffer.from(text));
      files.set(`${name}.sig`, Buffer.from(signature));
      sums += `${file.sha256}  ${name}\n`;
    }
    files.set('checksums.txt', Buffer.from(sums));
    this.releases.set(version, { prerelease: version.includes('-'), files });
    return files;
  }

  #answer(
    path: string,
    headers: IncomingHttpHeaders,
  ): { status: number; headers?: OutgoingHttpHeaders; body?: string | Buffer } {
    const [, kind, rest = ''] = /^\/(repos\/acme\/agent\/releases|assets|blobs)\/(.*)$/.exec(path) ?? [];
    if (kind?.startsWith('repos')) return this.#release(rest, headers);
    const [version = '', name = ''] = rest.split('/');
    const bytes = this.releases.get(version)?.files.get(name);
    if (!bytes) return { status: 404 };
    if (kind === 'assets') return { status: 302, headers: { location: `${this.assetsAt ?? this.url}/blobs/${rest}` } };
    return { status: 200, body: bytes };
  }
  #release(
    rest: string,
    headers: IncomingHttpHeaders,
  ): { status: number; headers?: OutgoingHttpHeaders; body?: string } {
    const stable = [...this.releases].filter(([, { prerelease }]) => !prerelease).map(([version]) => version);
    const version = rest === 'latest' ? stable.at(-1) : rest.replace(/^tags\/v/, '');
    const release = this.releases.get(version ?? '');
    if (!version || !release) return { status: 404 };
    const body = JSON.stringify({
      ...{ tag_name: `v${version}`, prerelease: release.prerelease, draft: false, body: 'Better' },
      assets: [...release.files.keys()].map((name) => ({
        ...{ name, url: 'x', browser_download_url: `${this.url}/assets/${version}/${name}` },
      })),
    });
    const etag = `"${sha256(body)}"`;
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
    return { status: 200, headers: { etag, 'content-type': 'application/json' }, body };
  }
}
