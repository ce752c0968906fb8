/** Changing an installation: its configuration, granted permissions, limits, and version. */
import { type Context, changesOf, errors } from '#core';
import { listensTo, type Manifest } from '#plugin-sdk/host';
import { CatalogEntry, PluginVersion } from '../../models/catalog-entry.ts';
import { Installation, type InstallationUpdate } from '../../models/installation.ts';
import { mustHaveVersion } from '../catalog.ts';
import { mustNotGoBack } from '../publishers.ts';
import { audit, mustLock, show } from '../reach.ts';
import { CHANGED } from '../running/facts.ts';
import { mustFit, storedConfig } from './configs.ts';
import { asked, mustBeVerifiedFor, mustMayGrant } from './consent.ts';
import { mustBeCompatible, mustHaveDependencies } from './installations.ts';
import { manifestOf } from './switching.ts';

const AUDITED = ['config', 'grantedPermissions', 'resourceLimits', 'targetVersion', 'pendingPermissions'];

/**
 * Throws NO_UPDATES, CONFIG_INVALID, CREDENTIALS_REQUIRED, INCOMPATIBLE, DEPENDENCIES_MISSING and INVALID_STATE. A version
 * that asks for more than was granted changes nothing but `pendingPermissions`, until `grantPermissions` has those too.
 */
export async function updateInstallation(ctx: Context, id: string, update: InstallationUpdate) {
  if (Object.keys(update).length === 0) throw errors.NoUpdates();
  const { config, version, grantPermissions, resourceLimits, allowDowngrade = false } = update;
  if (resourceLimits && ctx.scope.kind !== 'system') throw errors.Forbidden('Limits are for operators to change');
  const before = await mustLock(ctx, id);
  if (before.status !== 'installed' && before.status !== 'error') {
    throw errors.InvalidState({ details: [{ current: before.status, allowed: ['installed', 'error'] }] });
  }
  const entry = await CatalogEntry.in(ctx).findById(before.catalogId).throwIfNotFound();
  const current = await manifestOf(ctx, before);
  const granted = grantPermissions ?? before.grantedPermissions;
  if (version) mustNotGoBack(before.version, version, allowDowngrade);
  const move = version && version !== before.version ? await moveTo(ctx, before, entry, version, granted) : null;
  const target = move?.target ?? current;
  if (grantPermissions)
    mustMayGrant(
      ctx,
      await PluginVersion.in(ctx)
        .findOne({ catalogId: entry.id, version: move?.target ? version : before.version })
        .throwIfNotFound(),
      target,
      grantPermissions.filter((one) => !before.grantedPermissions.includes(one)),
    );
  if (config) mustFit(target.configSchema, config, before.enabled);
  const kept = granted.filter((name) => asked(target).includes(name as never));
  const after = await Installation.in(ctx)
    .findById(id)
    .where({ status: before.status })
    .patch({
      ...(config ? storedConfig(ctx, id, target, config, before) : {}),
      ...(grantPermissions
        ? { grantedPermissions: kept, listens: before.enabled ? listensTo(current, kept) : [] }
        : {}),
      ...(resourceLimits ? { resourceLimits } : {}),
      ...move?.patch,
      updatedAt: new Date(),
    })
    .returning('*')
    .first();
  if (!after) throw errors.NotFound('Plugin installation not found');
  const changed = changesOf(show(ctx, before), show(ctx, after), AUDITED);
  audit(ctx, 'plugin.update', after, { ...changed });
  ctx.notify(CHANGED, id);
  if (after.status === 'updating')
    ctx.addJob('plugins/update', { installationId: id }, { orgId: after.orgId, key: `plugin:${id}` });
  return { data: show(ctx, after) };
}

interface Move {
  /** Null while more has to be granted first. */
  target: Manifest | null;
  patch: Partial<Installation>;
}

async function moveTo(
  ctx: Context,
  before: Installation,
  entry: CatalogEntry,
  version: string,
  granted: readonly string[],
): Promise<Move> {
  if (before.status !== 'installed') {
    throw errors.InvalidState({ details: [{ current: before.status, allowed: ['installed'] }] });
  }
  const found = await mustHaveVersion(ctx, entry, version);
  const { manifest: target } = found;
  mustBeVerifiedFor(
    found,
    granted.filter((name) => asked(target).includes(name as never)),
  );
  mustBeCompatible(target);
  await mustHaveDependencies(ctx, before, target);
  const missing = asked(target).filter((name) => !granted.includes(name));
  if (missing.length > 0) return { target: null, patch: { pendingPermissions: missing, pendingVersion: version } };
  const patch = {
    status: 'updating' as const,
    targetVersion: version,
    statusSince: new Date(),
    pendingPermissions: [],
    pendingVersion: null,
  };
  return { target, patch };
}
