/** The long steps of an installation's life, done by jobs: installing, moving to another version, removing. */
import semver from 'semver';
import type { Context } from '#core';
import { limits as LIMITS, listensTo, type Manifest, missingHandlers } from '#plugin-sdk/host';
import { CatalogEntry, PluginVersion } from '../../models/catalog-entry.ts';
import { Installation } from '../../models/installation.ts';
import { arrangeSchedules } from '../dispatch/schedules.ts';
import { CHANGED, placeOf } from '../running/facts.ts';
import { hostOf } from '../running/host.ts';
import { mustFit } from './configs.ts';
import { manifestOf } from './switching.ts';

const lifecycle = (handler: string, args: unknown[] = [], timeoutMs?: number) =>
  ({ kind: 'lifecycle', handler, hook: handler, args, always: true, ...(timeoutMs ? { timeoutMs } : {}) }) as const;

/** Each in a transaction of its own: in between it waits for the plugin. Does nothing where another process was quicker. */
export async function runInstall(ctx: Context, id: string): Promise<void> {
  const found = await ctx.asCaller((own) => inState(own, id, 'installing'));
  if (!found) return;
  const fault = await tryOut(ctx, found.installation, found.manifest, lifecycle('onInstall'));
  await ctx.asCaller(async (own) => {
    const now = new Date();
    const patch = fault
      ? { status: 'error' as const, health: 'crashed' as const, errorMessage: fault }
      : { status: 'installed' as const, health: 'ok' as const, errorMessage: null, crashes: [], installedAt: now };
    const changed = await Installation.in(own)
      .findById(id)
      .where({ status: 'installing' })
      .patch({ ...patch, statusSince: now, updatedAt: now });
    if (changed === 0) return;
    if (!fault) await countInstalls(own, found.installation.catalogId, 1);
    own.notify(CHANGED, id);
  });
}

/** To the target version, with `onUpgrade`; back to the old one where anything fails. */
export async function runUpdate(ctx: Context, id: string): Promise<void> {
  const found = await ctx.asCaller(async (own) => {
    const state = await inState(own, id, 'updating');
    if (!state?.installation.targetVersion) return null;
    const target = await PluginVersion.in(own).findOne({
      catalogId: state.installation.catalogId,
      version: state.installation.targetVersion,
    });
    if (!target) return null;
    // The new package counts from here on; the status keeps events away until it is known to work.
    await Installation.in(own)
      .findById(id)
      .where({ status: 'updating' })
      .patch({ version: target.version, packageSha256: target.packageSha256 });
    own.notify(CHANGED, id);
    hostOf(own.services).renew(own, id);
    return { ...state, target };
  });
  if (!found) return;
  const { installation: before, target, manifest: old } = found;
  const versions = { from: before.version, to: target.version };
  const config = await migrated(ctx, target.manifest, before);
  const fault =
    typeof config === 'string'
      ? config
      : await tryOut(ctx, before, target.manifest, lifecycle('onUpgrade', [versions]));
  await ctx.asCaller(async (own) => {
    const manifest = fault ? old : target.manifest;
    const after = await Installation.in(own)
      .findById(id)
      .where({ status: 'updating' })
      .patch({
        ...(fault
          ? {
              version: before.version,
              packageSha256: before.packageSha256,
              errorMessage: `The update to ${target.version} was undone: ${fault}`,
            }
          : { errorMessage: null, health: 'ok' as const, crashes: [] }),
        ...(fault || typeof config === 'string' ? {} : { config }),
        ...{ status: 'installed', targetVersion: null, statusSince: new Date(), updatedAt: new Date() },
        listens: before.enabled ? listensTo(manifest, before.grantedPermissions) : [],
      })
      .returning('*')
      .first();
    if (after?.enabled) await arrangeSchedules(own, after, manifest);
    own.notify(CHANGED, id);
  });
}

/** `onUninstall` as well as can be, then all of it goes; data stays where that was asked for, logs for their 14 days. */
export async function runUninstall(ctx: Context, id: string): Promise<void> {
  const found = await ctx.asCaller((own) => inState(own, id, 'uninstalling'));
  if (!found) return;
  if (found.installation.installedAt)
    await hostOf(ctx.services).call(
      placeOf(found.installation),
      lifecycle('onUninstall', [], LIMITS.LIFECYCLE_MS.onUninstall),
    );
  await ctx.asCaller(async (own) => {
    const { catalogId, orgId, partnerId, slug, keepData, installedAt } = found.installation;
    const removed = await Installation.in(own).findById(id).where({ status: 'uninstalling' }).delete();
    if (removed === 0) return;
    if (!keepData) {
      await own.sql(
        `delete from plugin_kv where slug = $3 and (org_id = $1 and not of_partner
           or of_partner and org_id in (select o.id from organizations o where o.partner_id = $2))`,
        [orgId, partnerId, slug],
      );
    }
    if (installedAt) await countInstalls(own, catalogId, -1);
    own.notify(CHANGED, id);
  });
}

/** Null where it is in another state, or where plugins were switched off meanwhile, except to take it away. */
async function inState(ctx: Context, id: string, status: Installation['status']) {
  const installation = await Installation.in(ctx).findById(id).where({ status });
  if (status !== 'uninstalling' && installation && ctx.services.modules.off('plugins', ownerOf(installation)))
    return null;
  return installation ? { installation, manifest: await manifestOf(ctx, installation) } : null;
}

const ownerOf = ({ orgId, partnerId }: Installation) => (orgId ? { orgId } : { partnerId });

/** Starts it, holds what it has against its manifest, and runs one step of its life. Null, or what is wrong. */
async function tryOut(
  ctx: Context,
  installation: Installation,
  manifest: Manifest,
  step: ReturnType<typeof lifecycle>,
): Promise<string | null> {
  const host = hostOf(ctx.services);
  try {
    const missing = missingHandlers(manifest, (await host.inspect(placeOf(installation))).handlers);
    if (missing.length > 0) return `Its manifest names handlers that it does not have: ${missing.join(', ')}`;
  } catch (error) {
    return (error as Error).message.slice(0, 1_000);
  }
  const outcome = await host.call(placeOf(installation), step);
  return outcome.ok ? null : `${step.handler} failed: ${outcome.message}`.slice(0, 1_000);
}

/** The configuration as the new version wants it, by its migrations from the old one; a text says what failed. */
async function migrated(
  ctx: Context,
  manifest: Manifest,
  before: Installation,
): Promise<Record<string, unknown> | string> {
  let { config } = before;
  for (const { from, handler } of manifest.migrations ?? []) {
    if (!semver.satisfies(before.version, from)) continue;
    const call = { kind: 'handler', handler, hook: `migration ${from}`, args: [config], always: true } as const;
    const outcome = await hostOf(ctx.services).call(placeOf(before), call);
    if (!outcome.ok) return `the migration of the configuration failed: ${outcome.message}`;
    if (typeof outcome.result !== 'object' || outcome.result === null)
      return 'the migration of the configuration gave none';
    config = outcome.result as Record<string, unknown>;
  }
  const secrets = Object.fromEntries(Object.keys(before.secretConfig).map((key) => [key, '********']));
  try {
    mustFit(manifest.configSchema, { ...config, ...secrets }, before.enabled);
    return config;
  } catch (error) {
    return `the configuration does not fit: ${(error as Error).message}`;
  }
}

/** The catalog is the platform's; how often a plugin is installed is counted there. */
async function countInstalls(ctx: Context, catalogId: string, by: 1 | -1): Promise<void> {
  await ctx.asPlatform(async (own) => {
    await CatalogEntry.query(own.trx).findById(catalogId).increment('installCount', by);
  });
}
