/** Enabling and disabling: the plugin's hook runs, and it receives events only while it is enabled. */
import { type Context, errors } from '#core';
import { limits as LIMITS, listensTo } from '#plugin-sdk/host';
import { AlreadyDisabled, AlreadyEnabled, PluginFailed } from '../../errors.ts';
import { PluginVersion } from '../../models/catalog-entry.ts';
import { Installation } from '../../models/installation.ts';
import { arrangeSchedules, clearSchedules } from '../dispatch/schedules.ts';
import { audit, mustLock, show } from '../reach.ts';
import { CHANGED, placeOf } from '../running/facts.ts';
import { hostOf } from '../running/host.ts';
import { mustFit } from './configs.ts';
import { dependentsOf, mustHaveDependencies } from './installations.ts';

export async function manifestOf(ctx: Context, { catalogId, version }: Pick<Installation, 'catalogId' | 'version'>) {
  const found = await PluginVersion.in(ctx).findOne({ catalogId, version });
  if (!found) throw errors.NotFound(`There is no version ${version}`);
  return found.manifest;
}

async function mustBeReady(ctx: Context, id: string): Promise<Installation> {
  const installation = await mustLock(ctx, id);
  if (installation.enabled) throw AlreadyEnabled();
  if (installation.status !== 'installed') {
    throw errors.InvalidState({ details: [{ current: installation.status, allowed: ['installed'] }] });
  }
  const manifest = await manifestOf(ctx, installation);
  const secrets = Object.fromEntries(Object.keys(installation.secretConfig).map((key) => [key, '********']));
  mustFit(manifest.configSchema, { ...installation.config, ...secrets }, true);
  await mustHaveDependencies(ctx, installation, manifest, true);
  return installation;
}

/**
 * Without a transaction of its own: between two it waits for the plugin. Throws ALREADY_ENABLED, INVALID_STATE,
 * CONFIG_INVALID, DEPENDENCIES_MISSING, and PLUGIN_FAILED where `onEnable` does; nothing has changed then.
 */
export async function enable(ctx: Context, id: string) {
  const ready = await ctx.asCaller(async (own) => {
    const installation = await mustBeReady(own, id);
    hostOf(own.services).renew(own, id);
    return installation;
  });
  const call = {
    kind: 'lifecycle',
    handler: 'onEnable',
    hook: 'onEnable',
    args: [],
    timeoutMs: LIMITS.LIFECYCLE_MS.onEnable,
    always: true,
  } as const;
  const outcome = await hostOf(ctx.services).call(placeOf(ready), call);
  if (!outcome.ok) throw PluginFailed(`onEnable failed: ${outcome.message}`);
  return ctx.asCaller(async (own) => {
    const before = await mustBeReady(own, id);
    const manifest = await manifestOf(own, before);
    const installation = await Installation.in(own)
      .findById(id)
      .where({ enabled: false, status: 'installed' })
      .patch({
        ...{ enabled: true, health: 'ok', errorMessage: null, crashes: [], windowCalls: 0, windowErrors: 0 },
        ...{
          windowStartedAt: new Date(),
          listens: listensTo(manifest, before.grantedPermissions),
          updatedAt: new Date(),
        },
      })
      .returning('*')
      .first();
    if (!installation) throw AlreadyEnabled();
    await arrangeSchedules(own, installation, manifest);
    audit(own, 'plugin.enable', installation, { version: installation.version });
    own.notify(CHANGED, id);
    return { data: show(own, installation) };
  });
}

/** Throws ALREADY_DISABLED and, without `cascade`, HAS_DEPENDENTS. What waited for it is forgotten. */
export async function disable(ctx: Context, id: string, cascade: boolean) {
  const disabled = await ctx.asCaller(async (own) => {
    const installation = await mustLock(own, id);
    if (!installation.enabled) throw AlreadyDisabled();
    const dependents = await allDependents(own, installation);
    if (dependents.length > 0 && !cascade)
      throw errors.HasDependents({
        message: 'Other plugins depend on this one',
        details: dependents.map(({ id: one, slug }) => ({ id: one, slug })),
      });
    const all = [...dependents.reverse(), installation];
    for (const one of all) await switchOff(own, one);
    return all;
  });
  // They have not been told yet that they are off: what they do now is the last.
  const call = {
    kind: 'lifecycle',
    handler: 'onDisable',
    hook: 'onDisable',
    args: [],
    timeoutMs: LIMITS.LIFECYCLE_MS.onDisable,
    always: true,
  } as const;
  await Promise.all(disabled.map((one) => hostOf(ctx.services).call(placeOf(one), call)));
  return ctx.asCaller(async (own) => {
    for (const one of disabled) own.notify(CHANGED, one.id);
    return { data: show(own, await mustLock(own, id)) };
  });
}

/** The nearest first, each once. */
async function allDependents(ctx: Context, installation: Installation): Promise<Installation[]> {
  const found: Installation[] = [];
  const waiting = [installation];
  for (let one = waiting.shift(); one; one = waiting.shift()) {
    for (const { id } of await dependentsOf(ctx, one, true)) {
      if (id === installation.id || found.some((other) => other.id === id)) continue;
      const dependent = await mustLock(ctx, id);
      found.push(dependent);
      waiting.push(dependent);
    }
  }
  return found;
}

async function switchOff(ctx: Context, installation: Installation): Promise<void> {
  const changed = await Installation.in(ctx)
    .findById(installation.id)
    .where({ enabled: true })
    .patch({ enabled: false, updatedAt: new Date() });
  if (changed === 0) return;
  await clearSchedules(ctx, installation.id);
  audit(ctx, 'plugin.disable', installation, { version: installation.version });
}
