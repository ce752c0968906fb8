/** Alerts through plugins: a channel type that hands each message to a provider of the kind `notificationChannel`. */
import Joi from 'joi';
import { AppError, type Context, errors, openObject } from '#core';
import type { Slots } from '#core/contract';
import type { NotificationInput, NotificationResult } from '#plugin-sdk';
import { checkForm, type ProviderDeclaration, secretKeys, withDefaults } from '#plugin-sdk/host';
import { Installation } from '../../models/installation.ts';
import { askProvider } from '../actions.ts';
import { manifestOf } from '../installations/switching.ts';
import { serving } from '../reach.ts';
import type { Outcome } from '../running/process/invocation.ts';

type Adapter = Slots['alerts.channel'];
type Sent = Awaited<ReturnType<Adapter['send']>>;
type Message = Parameters<Adapter['send']>[2];
interface Config {
  plugin: string;
  provider: string;
  settings?: Record<string, unknown>;
}
interface InstalledProvider {
  installation: Installation;
  provider: ProviderDeclaration | undefined;
}

/** Codes of failures that another attempt would repeat. */
const FOR_GOOD = ['PERMANENT', 'EGRESS_DENIED', 'PERMISSION_DENIED'];
const LONGEST_ANSWER = 300;

export const pluginChannel: Adapter = {
  type: 'plugin',
  title: 'Plugin',
  config: Joi.object<Config, true>({
    plugin: Joi.string().max(64).required(),
    provider: Joi.string().max(64).required(),
    settings: openObject(),
  }),
  // A plugin keeps its secrets and its destination in its own configuration.
  secrets: [],
  destination: [],
  check: (ctx, config, { orgId }) => mustBeOffered(ctx, config as unknown as Config, orgId),
  send: (_services, config: Config, message, { ctx, owner }) => send(ctx, config, message, owner.orgId),
};

/** The installation that serves the organization: a channel never uses that of another organization. */
async function find(ctx: Context, { plugin, provider }: Config, orgId: string): Promise<InstalledProvider | null> {
  const [installation] = await serving(Installation.in(ctx).where({ slug: plugin }), orgId);
  if (!installation) return null;
  const { providers = [] } = await manifestOf(ctx, installation);
  return {
    installation,
    provider: providers.find(({ kind, key }) => kind === 'notificationChannel' && key === provider),
  };
}

async function mustBeOffered(ctx: Context, config: Config, orgId: string | null): Promise<void> {
  const fault = (path: string, message: string) =>
    errors.ValidationFailed({ message, details: [{ in: 'payload', path: `config.${path}`, message }] });
  if (!orgId) throw fault('plugin', 'Plugins work in organizations: the channel must belong to one');
  const found = await find(ctx, config, orgId);
  if (!found?.installation.enabled) throw fault('plugin', `No plugin ${config.plugin} is enabled in the organization`);
  const { provider } = found;
  if (!provider) throw fault('provider', `${config.plugin} offers no notification channel ${config.provider}`);
  const form = provider.inputSchema;
  if (secretKeys(form).length > 0) {
    throw fault('provider', 'It wants secrets of each channel; they belong into the configuration of the plugin');
  }
  const [first] = checkForm(form, withDefaults(form, config.settings ?? {}));
  if (first) throw fault(first.path ? `settings.${first.path}` : 'settings', first.message);
}

async function send(ctx: Context, config: Config, message: Message, orgId: string | null): Promise<Sent> {
  const { plugin } = config;
  const found = orgId ? await ctx.asCaller((own) => find(own, config, orgId)) : null;
  if (!found) return failed(`The plugin ${plugin} is not installed in the organization`, true);
  const { installation, provider } = found;
  if (!provider) return failed(`The plugin ${plugin} has no notification channel ${config.provider} any more`, true);
  // The plugin may be enabled again before the last attempt.
  if (!installation.enabled) return failed(`The plugin ${plugin} is not enabled`, false);
  try {
    const outcome = await askProvider(ctx, {
      ...{
        installationId: installation.id,
        ...(orgId ? { orgId } : {}),
        kind: 'notificationChannel',
        key: provider.key,
      },
      operation: message.kind === 'test' && Object.hasOwn(provider.handlers, 'test') ? 'test' : 'send',
      input: { ...inputOf(message, withDefaults(provider.inputSchema, config.settings ?? {})) },
    });
    return sentOf(outcome);
  } catch (error) {
    // It was disabled or removed after it was found.
    if (error instanceof AppError && error.status === 404) return failed(error.message, false);
    throw error;
  }
}

function inputOf(message: Message, settings: Record<string, unknown>): NotificationInput {
  const { id, heading, severity, url, kind, alertId, at, organization = null, device = null } = message;
  const data = { kind, alertId, organization, device, at };
  return { id, title: heading, message: message.message, severity, url, data, settings };
}

function sentOf(outcome: Outcome): Sent {
  if (!outcome.ok) {
    const { code, message, afterMs } = outcome;
    return failed(message, FOR_GOOD.includes(code), afterMs === null ? null : Math.ceil(afterMs / 1_000));
  }
  const { delivered, reference = null, detail } = outcome.result as NotificationResult;
  if (!delivered) return failed(detail || 'The plugin says that it was not delivered', true);
  return { ...NOTHING, success: true, answer: cut(detail ?? 'delivered'), providerMessageId: reference };
}

const NOTHING = { permanent: false, status: null, retryAfter: null, providerMessageId: null, reached: [] };
const cut = (text: string) => text.replace(/\s+/g, ' ').replaceAll('\0', '').slice(0, LONGEST_ANSWER).toWellFormed();
const failed = (answer: string, permanent: boolean, retryAfter: number | null = null): Sent => ({
  ...{ ...NOTHING, success: false, permanent, answer: cut(answer), retryAfter },
});
