/** The versions, halts and policies of tenants in memory. Notices and a time limit have them read again. */

import type { Component, Manifest, Platform, ReleaseArchitecture } from '#agent-protocol';
import { type Context, defineService, type Services, type StartServices } from '#core';
import type { UpdatePolicy } from '../models/update-policy.ts';
import { variables } from '../variables.ts';
import { isTrusted } from './releases/manifests.ts';

/** Sent to all processes when versions or halts change. */
export const CATALOG_NOTICE = 'agent-versions.catalog';
/** How long a policy is kept, in milliseconds: a change takes effect within this time. */
const POLICY_CACHE_MS = 60_000;

export interface Target {
  id: string;
  version: string;
  component: Component;
  platform: Platform;
  architecture: ReleaseArchitecture;
  checksum: string;
  isLatest: boolean;
  promotedAt: Date | null;
  /** Signed by a trusted key. Whether the manifest has expired is checked at each offer. */
  signed: boolean;
  expiresAt: Date | null;
}
export interface Loaded {
  /** No version was ever registered, so no attempts exist either. */
  empty: boolean;
  targets: ReadonlyMap<string, Target>;
  latest: ReadonlyMap<string, Target>;
  /** `<owner> <component> <version>`, where the owner is the id of an organization or a partner. */
  halted: ReadonlySet<string>;
}

const programKey = (component: string, platform: string, architecture: string) =>
  `${component} ${platform} ${architecture}`;
export const latestFor = (loaded: Loaded, component: string, platform: string, architecture: string) =>
  loaded.latest.get(programKey(component, platform, architecture));
export const targetFor = (loaded: Loaded, component: string, platform: string, architecture: string, version: string) =>
  loaded.targets.get(`${programKey(component, platform, architecture)} ${version}`);

export class Catalog {
  readonly #load: () => Promise<Loaded>;
  readonly #readPolicy: (orgId: string) => Promise<UpdatePolicy>;
  #loaded: Promise<Loaded> | null = null;
  readonly #policies = new Map<string, { policy: Promise<UpdatePolicy>; at: number }>();

  constructor(load: () => Promise<Loaded>, readPolicy: (orgId: string) => Promise<UpdatePolicy>) {
    this.#load = load;
    this.#readPolicy = readPolicy;
  }

  current(): Promise<Loaded> {
    if (!this.#loaded) {
      const loaded = this.#load();
      this.#loaded = loaded;
      // A failed read is not kept. A read that `forget` has replaced meanwhile is left alone.
      loaded.catch(() => {
        if (this.#loaded === loaded) this.#loaded = null;
      });
    }
    return this.#loaded;
  }

  policyOf(orgId: string): Promise<UpdatePolicy> {
    const held = this.#policies.get(orgId);
    if (held && performance.now() - held.at < POLICY_CACHE_MS) return held.policy;
    const policy = this.#readPolicy(orgId);
    this.#policies.set(orgId, { policy, at: performance.now() });
    policy.catch(() => this.#policies.delete(orgId));
    return policy;
  }

  forget(): void {
    this.#loaded = null;
    this.#policies.clear();
  }
}

interface VersionRow extends Omit<Target, 'signed' | 'expiresAt'> {
  manifest: string;
  manifestSignature: string;
  signingKeyId: string;
}

async function load(ctx: Context): Promise<Loaded> {
  const { rows } = await ctx.sql<VersionRow & { state: string }>(
    `select id, version, component, platform, architecture, checksum, is_latest as "isLatest",
       promoted_at as "promotedAt", manifest, manifest_signature as "manifestSignature",
       signing_key_id as "signingKeyId", state
     from agent_versions`,
  );
  const halts = await ctx.sql<{ owner: string; component: string; version: string }>(
    `select coalesce(org_id, partner_id) as owner, component, version from agent_rollout_halts where resumed_at is null`,
  );
  const targets = rows.filter(({ state }) => state !== 'withdrawn').map((row) => toTarget(ctx.services.config, row));
  const key = (one: Target) => programKey(one.component, one.platform, one.architecture);
  return {
    empty: rows.length === 0,
    targets: new Map(targets.map((one) => [`${key(one)} ${one.version}`, one])),
    latest: new Map(targets.filter(({ isLatest }) => isLatest).map((one) => [key(one), one])),
    halted: new Set(halts.rows.map(({ owner, component, version }) => `${owner} ${component} ${version}`)),
  };
}

/** Checks the signature once for each load of the catalogue rather than with every heartbeat. */
function toTarget(config: Services['config'], row: VersionRow): Target {
  const { id, version, component, platform, architecture, checksum, isLatest, promotedAt } = row;
  const { expiresAt } = JSON.parse(row.manifest) as Manifest;
  return {
    ...{ id, version, component, platform, architecture, checksum, isLatest, promotedAt },
    signed: isTrusted(variables.of(config).trustKeys, row, new Date()),
    expiresAt: expiresAt ? new Date(expiresAt) : null,
  };
}

export const CATALOG = defineService<Catalog>('agent-versions.catalog');

export function startCatalog({ asPlatform, onNotice, onNoticesLost }: StartServices): Catalog {
  const catalog = new Catalog(
    () => asPlatform(load),
    (orgId) => asPlatform((ctx) => ctx.settings<UpdatePolicy>('agent-versions', orgId)),
  );
  onNotice(CATALOG_NOTICE, () => catalog.forget());
  onNoticesLost(() => catalog.forget());
  return catalog;
}

export const catalogOf = (ctx: Pick<Context, 'services'>): Catalog => ctx.services.get(CATALOG);
