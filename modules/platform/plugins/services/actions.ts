/** Actions that users start, and operations of providers that other modules call. */
import { type Context, callerHolds, errors } from '#core';
import type { ActionCall } from '#plugin-sdk';
import { checkForm, checkResult, type Manifest, type ProviderKind } from '#plugin-sdk/host';
import { ConfigInvalid, PluginBusy, PluginFailed, PluginTimeout } from '../errors.ts';
import { PluginVersion } from '../models/catalog-entry.ts';
import { Installation } from '../models/installation.ts';
import { asOwner, noteCalls } from './installations/health.ts';
import { manifestOf } from './installations/switching.ts';
import { audit, mustSee, mustServe, serving } from './reach.ts';
import { hostOf } from './running/host.ts';
import type { Outcome } from './running/process/invocation.ts';

export interface ActionInput {
  targetId?: string;
  input?: Record<string, unknown>;
}

/** Throws 403 without the action's own permission, 404 for a target out of reach, and PLUGIN_FAILED, _TIMEOUT or _BUSY. */
export async function invokeAction(ctx: Context, id: string, name: string, { targetId, input = {} }: ActionInput) {
  const { installation, orgId, handler, target } = await ctx.asCaller(async (own) => {
    const installation = await mustSee(own, id);
    const action = (await manifestOf(own, installation)).actions?.find((one) => one.name === name);
    if (!action) throw errors.NotFound(`The plugin has no action ${name}`);
    mustHoldPair(own, action.permission);
    if (!installation.enabled)
      throw errors.InvalidState({
        message: 'The plugin is not enabled',
        details: [{ current: 'disabled', allowed: ['enabled'] }],
      });
    const faults = checkForm(action.inputSchema, input);
    const [first] = faults;
    if (first) {
      const details = faults.map(({ path, message }) => ({ in: 'payload', path: `input.${path}`, message }));
      throw ConfigInvalid({ message: `input.${first.path} ${first.message}`, details });
    }
    const found = await targetOf(own, action.target, targetId, installation.orgId);
    await mustServe(own, installation, found.orgId);
    audit(own, 'plugin.invoke', installation, { action: name, target: found.target }, found.orgId);
    return { installation, handler: action.handler ?? name, ...found };
  });
  const call: ActionCall = { action: name, target, input, userId: ctx.actor.kind === 'user' ? ctx.actor.id : null };
  const host = hostOf(ctx.services);
  const outcome = await host.call(
    { installationId: id, orgId },
    { kind: 'handler', handler, hook: `action ${name}`, args: [call], causation: ctx.causation },
  );
  await asOwner(host.services, installation, (own) => noteCalls(own, id, [outcome]));
  return { result: resultOf(outcome) };
}

function mustHoldPair({ actor }: Context, pair: string): void {
  if (!callerHolds(actor, pair, 'POST'))
    throw errors.Forbidden({ message: 'Permission denied', details: [{ permission: pair }] });
}

/** The target and its organization. @param own the installation's organization; null where it belongs to a partner */
async function targetOf(
  ctx: Context,
  type: ActionCall['target']['type'],
  id: string | undefined,
  own: string | null,
): Promise<{ target: ActionCall['target']; orgId: string }> {
  const invalid = (message: string) =>
    errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'targetId', message }] });
  if (type === 'org') {
    if (id && own && id !== own) throw invalid('The organization of the installation is the target');
    const orgId = own ?? id ?? ctx.scope.orgId;
    if (!orgId) throw invalid('targetId is required: the organization');
    return { target: { type, id: orgId }, orgId };
  }
  if (!id) throw invalid(`targetId is required: the ${type}`);
  if (type === 'alert') throw invalid('This server has no alerts');
  const device = await ctx.use('devices').mustExist(id);
  // A plugin sees only its own organization, even when the caller sees more.
  if (own && device.orgId !== own) throw errors.NotFound('Device not found');
  return { target: { type, id }, orgId: device.orgId };
}

/** The result of a call; throws the error that callers of the API receive. */
export function resultOf(outcome: Outcome): unknown {
  if (outcome.ok) return outcome.result;
  if (outcome.code === 'TIMEOUT') throw PluginTimeout(outcome.message);
  if (outcome.code !== 'BUSY') throw PluginFailed(outcome.message);
  const seconds = Math.max(1, Math.ceil((outcome.afterMs ?? 1_000) / 1_000));
  throw PluginBusy({ message: outcome.message, headers: { 'retry-after': String(seconds) } });
}

export interface Provider {
  installationId: string;
  /** Null: it serves all organizations of the partner; each call names its organization. */
  orgId: string | null;
  slug: string;
  kind: ProviderKind;
  key: string;
  label: string;
  description: string | null;
  operations: string[];
  inputSchema: Manifest['configSchema'] | null;
  destructive: boolean;
}

/** The providers of enabled plugins within the caller's reach. */
export async function listProviders(ctx: Context, kind?: ProviderKind, orgId?: string): Promise<Provider[]> {
  const found = Installation.in(ctx).where({ enabled: true, status: 'installed' }).orderBy(['slug', 'id']).limit(500);
  if (orgId) serving(found, orgId);
  const installations = await found;
  const versions = await PluginVersion.in(ctx).whereIn(
    'packageSha256',
    installations.map(({ packageSha256 }) => packageSha256),
  );
  return installations.flatMap(({ id, orgId: org, slug, packageSha256 }) => {
    const providers = versions.find((one) => one.packageSha256 === packageSha256)?.manifest.providers ?? [];
    return providers
      .filter((one) => !kind || one.kind === kind)
      .map((one) => ({
        ...{ installationId: id, orgId: org, slug, kind: one.kind, key: one.key, label: one.label },
        ...{ description: one.description ?? null, operations: Object.keys(one.handlers) },
        ...{ inputSchema: one.inputSchema ?? null, destructive: one.destructive ?? false },
      }));
  });
}

export interface ProviderCall {
  installationId: string;
  /** For a plugin of a partner: the organization that the call is for; the caller's own when absent. */
  orgId?: string;
  kind: ProviderKind;
  key: string;
  operation: string;
  input: Record<string, unknown>;
}

/**
 * For other modules, outside of any transaction: it waits for the plugin. The answer fits the schema of the kind. Throws
 * 404 for a provider that does not exist or is out of reach, and PLUGIN_FAILED, PLUGIN_TIMEOUT or PLUGIN_BUSY.
 */
export const callProvider = async (ctx: Context, call: ProviderCall): Promise<unknown> =>
  resultOf(await askProvider(ctx, call));

/** The same for callers that need the code of a failure. Throws 404 only. */
export async function askProvider(
  ctx: Context,
  { installationId, orgId: organization, kind, key, operation, input }: ProviderCall,
): Promise<Outcome> {
  const { installation, orgId, handler } = await ctx.asCaller(async (own) => {
    const installation = await mustSee(own, installationId);
    const provider = (await manifestOf(own, installation)).providers?.find(
      (one) => one.kind === kind && one.key === key,
    );
    const named = provider && Object.hasOwn(provider.handlers, operation) ? provider.handlers[operation] : undefined;
    if (!named || !installation.enabled)
      throw errors.NotFound(`No enabled plugin offers ${operation} of ${kind} ${key} here`);
    const orgId = installation.orgId ?? organization ?? own.scope.orgId;
    if (!orgId) throw errors.NotFound('The plugin serves many organizations: name one');
    await mustServe(own, installation, orgId);
    return { installation, orgId, handler: named };
  });
  const host = hostOf(ctx.services);
  let outcome = await host.call(
    { installationId, orgId },
    { kind: 'handler', handler, hook: `${kind} ${key}`, args: [input], causation: ctx.causation },
  );
  if (outcome.ok) {
    const [fault] = checkResult(kind, operation, outcome.result);
    if (fault) {
      const message = `The answer of ${operation} is not valid: ${fault.path} ${fault.message}`;
      outcome = { ok: false, code: 'PERMANENT', message, afterMs: null, ms: outcome.ms };
    }
  }
  const noted = outcome;
  await asOwner(host.services, installation, (own) => noteCalls(own, installationId, [noted]));
  return outcome;
}
