/** What may be offered, in memory: versions, halts and tenants' policies, read again when a notice says so. */

import type { Component, Manifest, Platform, ReleaseArchitecture } from '#agent-protocol';
import { type Context, defineService, type Services, type StartServices } from '#core';
import type { UpdatePolicy } from '../models/update-policy.ts';
import { variables } from '../variables.ts';
import { isTrusted } from './releases/manifests.ts';

/** Tells every process that versions or halts changed. */
export const CATALOG_NOTICE = 'agent-versions.catalog';
/** A changed policy counts within this time. */
const POLICY_MS = 60_000;

export interface Target {
  id: string;
  version: string;
  component: Component;
  platform: Platform;
  architecture: ReleaseArchitecture;
  checksum: string;
  isLatest: boolean;
  promotedAt: Date | null;
  /** Signed by a trusted key; whether it has expired is for the moment to say. */
  signed: boolean;
  expiresAt: Date | null;
}
export interface Loaded {
  /** No version was ever registered: there is nothing to offer, and nothing was. */
  empty: boolean;
  targets: ReadonlyMap<string, Target>;
  latest: ReadonlyMap<string, Target>;
  /** `<owner> <component> <version>`; owner is an organization or a partner. */
  halted: ReadonlySet<string>;
}

const place = (component: string, platform: string, architecture: string) => `${component} ${platform} ${architecture}`;
export const latestFor = (loaded: Loaded, component: string, platform: string, architecture: string) =>
  loaded.latest.get(place(component, platform, architecture));
export const targetFor = (loaded: Loaded, component: string, platform: string, architecture: string, version: string) =>
  loaded.targets.get(`${place(component, platform, architecture)} ${version}`);

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
      // A failure is not remembered; what was forgotten meanwhile stays forgotten.
      loaded.catch(() => {
        if (this.#loaded === loaded) this.#loaded = null;
      });
    }
    return this.#loaded;
  }

  policyOf(orgId: string): Promise<UpdatePolicy> {
    const held = this.#policies.get(orgId);
    if (held && performance.now() - held.at < POLICY_MS) return held.policy;
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

interface Row extends Omit<Target, 'signed' | 'expiresAt'> {
  manifest: string;
  manifestSignature: string;
  signingKeyId: string;
}

async function load(ctx: Context): Promise<Loaded> {
  const { rows } = await ctx.sql<Row & { state: string }>(
    `select id, version, component, platform, architecture, checksum, is_latest as "isLatest",
       promoted_at as "promotedAt", manifest, manifest_signature as "manifestSignature",
       signing_key_id as "signingKeyId", state
     from agent_versions`,
  );
  const halts = await ctx.sql<{ owner: string; component: string; version: string }>(
    `select coalesce(org_id, partner_id) as owner, component, version from agent_rollout_halts where resumed_at is null`,
  );
  const targets = rows.filter(({ state }) => state !== 'withdrawn').map((row) => toTarget(ctx.services.config, row));
  const key = (one: Target) => place(one.component, one.platform, one.architecture);
  return {
    empty: rows.length === 0,
    targets: new Map(targets.map((one) => [`${key(one)} ${one.version}`, one])),
    latest: new Map(targets.filter(({ isLatest }) => isLatest).map((one) => [key(one), one])),
    halted: new Set(halts.rows.map(({ owner, component, version }) => `${owner} ${component} ${version}`)),
  };
}

/** Signatures are checked here, once, and not with every beat. */
function toTarget(config: Services['config'], row: Row): Target {
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
