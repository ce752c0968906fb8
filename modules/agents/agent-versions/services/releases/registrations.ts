/** Writes verified programs into the catalogue. Platform role. */

import type { Coordinates } from '#agent-protocol';
import type { Context } from '#core';
import { VersionChanged } from '../../errors.ts';
import { sortKey } from '../../models/agent-version.ts';
import { label } from '../../models/coordinates.ts';
import { variables } from '../../variables.ts';
import { CATALOG_NOTICE } from '../catalog.ts';
import { refreshLatest, takeTurn } from '../promotions.ts';
import type { SignedManifest } from './manifests.ts';
import type { Release } from './releases.ts';

export interface Verified extends Coordinates {
  signed: SignedManifest;
  url: string | null;
}

export interface Known extends Coordinates {
  checksum: string;
}

export async function knownOf(ctx: Context, version: string): Promise<Known[]> {
  const { rows } = await ctx.sql<Known>(
    'select component, platform, architecture, checksum from agent_versions where version = $1',
    [version],
  );
  return rows;
}

/** Registers the programs that are not registered yet, also by a concurrent sync. Throws VERSION_CHANGED. */
export async function register(ctx: Context, release: Release, programs: readonly Verified[]): Promise<Coordinates[]> {
  if (programs.length === 0) return [];
  await takeTurn(ctx);
  const known = await knownOf(ctx, release.version);
  const fresh: Coordinates[] = [];
  for (const program of programs) {
    const same = known.find((one) => label(one) === label(program));
    if (same && same.checksum !== program.signed.manifest.sha256) {
      throw VersionChanged({ details: [{ path: label(program) }] });
    }
    if (same) continue;
    await insert(ctx, release, program);
    fresh.push(program);
  }
  if (fresh.length === 0) return [];
  ctx.audit('agent_version.sync', {
    resourceType: 'agent_version',
    resourceName: release.version,
    details: { version: release.version, source: release.source, synced: fresh.map(label) },
  });
  ctx.notify(CATALOG_NOTICE, '*');
  return fresh;
}

async function insert(ctx: Context, { version, source, notes }: Release, program: Verified): Promise<void> {
  const { component, platform, architecture, url, signed } = program;
  const promote = variables.of(ctx.services.config).autoPromote && !version.includes('-');
  await ctx.sql(
    `insert into agent_versions (version, sort_key, component, platform, architecture, source, download_url, checksum,
       file_size, manifest, manifest_signature, signing_key_id, release_notes, state, promoted_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, case when $14 = 'promoted' then now() end)`,
    [
      ...[version, sortKey(version), component, platform, architecture, source, url],
      ...[signed.manifest.sha256, signed.manifest.size, signed.text, signed.signature, signed.keyId],
      ...[notes?.replaceAll('\0', '') ?? null, promote ? 'promoted' : 'registered'],
    ],
  );
  if (promote) await refreshLatest(ctx, program);
}
