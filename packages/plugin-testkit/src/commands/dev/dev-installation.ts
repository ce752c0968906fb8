/** The plugin in a server: registered as one version after another, and installed, moved and enabled in one organization. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Made } from '../package-of.ts';
import { ServerError, type ServerSession } from './server-session.ts';

interface Installation {
  id: string;
  orgId: string;
  slug: string;
  version: string;
  status: string;
  enabled: boolean;
  errorMessage: string | null;
}
interface LogLine {
  id: string;
  level: string;
  message: string;
  fields: Record<string, unknown> | null;
  hook: string | null;
  timestamp: string;
}
const LOOK_MS = 250;

export class DevInstallation {
  private readonly server: ServerSession;
  private readonly orgId: string;
  private readonly config: Record<string, unknown> | undefined;
  private id: string | null = null;
  private version: string | null = null;
  private readonly seen = new Set<string>();
  private since = new Date(0).toISOString();

  constructor(server: ServerSession, orgId: string, config?: Record<string, unknown>) {
    this.server = server;
    this.orgId = orgId;
    this.config = config;
  }

  /** Registers a version and lets it run instead of the one before. Rejects with what the server or the plugin said. */
  async load({ content, manifest }: Made): Promise<void> {
    const { slug, version, permissions = [] } = manifest;
    const package_ = { content: new Uint8Array(content), type: 'application/gzip' };
    // What is under work comes before the version that it will be, which may be there already.
    await this.server.call('POST', '/plugins/catalog?allowDowngrade=true', package_).catch(asUnsigned);
    const before = await this.find(slug);
    const change = {
      ...{ version, grantPermissions: permissions.map(({ name }) => name) },
      ...(this.config ? { config: this.config } : {}),
    };
    const { data } = before
      ? await this.server.call<{ data: Installation }>('PATCH', `/plugins/installations/${before.id}`, {
          ...change,
          allowDowngrade: true,
        })
      : await this.server.call<{ data: Installation }>('POST', '/plugins/installations', {
          slug,
          orgId: this.orgId,
          ...change,
        });
    this.id = data.id;
    const settled = await this.settled(data.id);
    if (settled.version !== version || settled.status !== 'installed')
      throw new Error(settled.errorMessage ?? `The installation is ${settled.status}`);
    if (!settled.enabled) await this.server.call('POST', `/plugins/installations/${data.id}/enable`);
    await this.withdraw(slug, version);
  }

  /** Lines that were not seen yet, oldest first. */
  async newLines(): Promise<LogLine[]> {
    if (!this.id) return [];
    const query = `limit=100&since=${encodeURIComponent(this.since)}`;
    const { data } = await this.server.call<{ data: LogLine[] }>(
      'GET',
      `/plugins/installations/${this.id}/logs?${query}`,
    );
    const fresh = data.filter(({ id }) => !this.seen.has(id)).reverse();
    for (const { id, timestamp } of fresh) {
      this.seen.add(id);
      if (timestamp > this.since) this.since = timestamp;
    }
    return fresh;
  }

  private async find(slug: string): Promise<Installation | null> {
    const query = `orgId=${this.orgId}&limit=100`;
    const { data } = await this.server.call<{ data: Installation[] }>('GET', `/plugins/installations?${query}`);
    return data.find((one) => one.slug === slug) ?? null;
  }

  private async settled(id: string): Promise<Installation> {
    for (;;) {
      const { data } = await this.server.call<{ data: Installation }>('GET', `/plugins/installations/${id}`);
      if (data.status !== 'installing' && data.status !== 'updating') return data;
      await pause(LOOK_MS);
    }
  }

  /** The version before is of no more use to anybody. */
  private async withdraw(slug: string, version: string): Promise<void> {
    const old = this.version;
    this.version = version;
    if (!old || old === version) return;
    await this.server.call('PATCH', `/plugins/catalog/${slug}/versions/${old}`, { yanked: true });
  }
}

function asUnsigned(error: unknown): never {
  if (error instanceof ServerError && error.code === 'SIGNATURE_INVALID')
    throw new Error(
      'This server takes signed packages only. A server for development has PLUGINS_ALLOW_UNSIGNED=true.',
    );
  throw error;
}
