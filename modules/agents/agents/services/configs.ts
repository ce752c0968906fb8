/** What the agents of an organization run with, read rarely and remembered, so that a heartbeat costs no statement. */
import Joi from 'joi';
import type { AgentConfig } from '#agent-protocol';
import {
  type Context,
  defineService,
  errors,
  type ModuleDirectory,
  type Reply,
  reply,
  type StartServices,
} from '#core';
import { sha256Hex } from '#core/auth';

export interface AgentSettings {
  heartbeatIntervalSeconds: number;
  metricsCollectionIntervalSeconds: number;
  /** Age at which a token is due for rotation. */
  tokenRotationDays: number;
}
/** Whether each feature is enabled; an agent leaves a disabled one alone. */
export type AgentFeatures = Record<string, boolean>;
export interface VersionedConfig {
  config: Required<AgentConfig>;
  configVersion: string;
  tokenRotationDays: number;
}

export const agentSettings = Joi.object<AgentSettings>({
  heartbeatIntervalSeconds: Joi.number().integer().min(15).max(900).default(60),
  metricsCollectionIntervalSeconds: Joi.number().integer().min(10).max(900).default(30),
  tokenRotationDays: Joi.number().integer().min(1).max(365).default(30),
});

/** What is on and off is asked again after this time; modules tell of each change. */
const KEEP_MS = 30_000;
/** The database tells of each change of settings; reads twice a minute would be more statements than the beats are. */
const SETTINGS_MS = 300_000;
const MOST_DEVICES = 100_000;

/** The features of all modules, as they are on for the organization. */
export function featuresOf(modules: ModuleDirectory, orgId: string): AgentFeatures {
  return Object.fromEntries(
    modules.all.flatMap(({ name, agentFeatures = [] }) =>
      agentFeatures.map((feature) => [feature, modules.off(name, { orgId }) === null]),
    ),
  );
}

export function versioned({ tokenRotationDays, ...rest }: AgentSettings, features: AgentFeatures): VersionedConfig {
  const config = { ...rest, features };
  return { config, configVersion: sha256Hex(JSON.stringify(config)).slice(0, 16), tokenRotationDays };
}

interface Held {
  settings: Promise<AgentSettings>;
  readAt: number;
  answer: Promise<VersionedConfig>;
  at: number;
}

export class AgentConfigs {
  readonly #read: (orgId: string) => Promise<AgentSettings>;
  readonly #features: (orgId: string) => AgentFeatures;
  readonly #byOrg = new Map<string, Held>();
  /** The version each device was last given here, for agents that do not name theirs. */
  readonly #given = new Map<string, string>();

  constructor(read: (orgId: string) => Promise<AgentSettings>, features: (orgId: string) => AgentFeatures) {
    this.#read = read;
    this.#features = features;
  }

  /** What was read before a change of this organization's settings, or of a partner's (`*`), counts no more. */
  forget(orgId: string): void {
    if (orgId === '*') this.#byOrg.clear();
    else this.#byOrg.delete(orgId);
  }

  of(orgId: string): Promise<VersionedConfig> {
    const held = this.#byOrg.get(orgId);
    const at = performance.now();
    if (held && at - held.at < KEEP_MS) return held.answer;
    const { settings, readAt } =
      held && at - held.readAt < SETTINGS_MS ? held : { settings: this.#read(orgId), readAt: at };
    const answer = settings.then((known) => versioned(known, this.#features(orgId)));
    const entry = { settings, readAt, answer, at };
    this.#byOrg.set(orgId, entry);
    answer.catch(() => this.#byOrg.get(orgId) === entry && this.#byOrg.delete(orgId));
    return answer;
  }

  /** The configuration when the device does not have it yet, else null. */
  update(deviceId: string, current: VersionedConfig, named: string | null | undefined): AgentConfig | null {
    const has = named ?? this.#given.get(deviceId);
    if (has === current.configVersion) return null;
    const oldest = this.#given.keys().next();
    if (this.#given.size >= MOST_DEVICES && !oldest.done) this.#given.delete(oldest.value);
    this.#given.set(deviceId, current.configVersion);
    return current.config;
  }
}

/** The channel that tells of changed settings; the payload is the organization, or `*`. */
export const SETTINGS_NOTICE = 'agents.settings';

export const CONFIGS = defineService<AgentConfigs>('agents.configs');

export function startConfigs(start: StartServices): AgentConfigs {
  const { services, asPlatform, onNotice, onNoticesLost, onModulesChanged } = start;
  const configs = new AgentConfigs(
    (orgId) => asPlatform((ctx) => ctx.settings<AgentSettings>('agents', orgId)),
    (orgId) => featuresOf(services.modules, orgId),
  );
  onNotice(SETTINGS_NOTICE, (orgId) => configs.forget(orgId));
  onNoticesLost(() => configs.forget('*'));
  onModulesChanged(() => configs.forget('*'));
  return configs;
}

export const agentConfigs = (ctx: Context): AgentConfigs => ctx.services.get(CONFIGS);

/** The full configuration with its version as ETag; the server answers 304 to an agent that has it. */
export async function readConfig(ctx: Context): Promise<Reply> {
  const { orgId } = ctx.scope;
  if (!orgId) throw errors.Unauthenticated();
  const { config, configVersion } = await agentConfigs(ctx).of(orgId);
  return reply({ configVersion, config }, { headers: { etag: `"${configVersion}"` } });
}
