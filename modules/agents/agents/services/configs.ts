/** The configuration of the agents of an organization, cached so that a heartbeat costs no statement. */
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
/** Whether each feature is enabled. An agent does not run a disabled one. */
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

/** How long the state of features is cached, in milliseconds. Changes of modules also drop it. */
const FEATURES_CACHE_MS = 30_000;
/** How long settings are cached, in milliseconds. A notice of each change also drops them. */
const SETTINGS_CACHE_MS = 300_000;
const MAX_DEVICES = 100_000;

/** The features of all modules, and whether they are on for the organization. */
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
  /** The version that each device received last, for agents that do not name theirs. */
  readonly #given = new Map<string, string>();

  constructor(read: (orgId: string) => Promise<AgentSettings>, features: (orgId: string) => AgentFeatures) {
    this.#read = read;
    this.#features = features;
  }

  /** Drops the cached configuration of an organization, or of all for `*`. */
  forget(orgId: string): void {
    if (orgId === '*') this.#byOrg.clear();
    else this.#byOrg.delete(orgId);
  }

  of(orgId: string): Promise<VersionedConfig> {
    const held = this.#byOrg.get(orgId);
    const at = performance.now();
    if (held && at - held.at < FEATURES_CACHE_MS) return held.answer;
    const { settings, readAt } =
      held && at - held.readAt < SETTINGS_CACHE_MS ? held : { settings: this.#read(orgId), readAt: at };
    const answer = settings.then((known) => versioned(known, this.#features(orgId)));
    const entry = { settings, readAt, answer, at };
    this.#byOrg.set(orgId, entry);
    answer.catch(() => this.#byOrg.get(orgId) === entry && this.#byOrg.delete(orgId));
    return answer;
  }

  /** The configuration, or null when the device has it already. */
  update(deviceId: string, current: VersionedConfig, named: string | null | undefined): AgentConfig | null {
    const has = named ?? this.#given.get(deviceId);
    if (has === current.configVersion) return null;
    const oldest = this.#given.keys().next();
    if (this.#given.size >= MAX_DEVICES && !oldest.done) this.#given.delete(oldest.value);
    this.#given.set(deviceId, current.configVersion);
    return current.config;
  }
}

/** The notice of changed settings; the payload is the id of the organization, or `*`. */
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

/** The full configuration with its version as ETag, by which the server answers 304. */
export async function readConfig(ctx: Context): Promise<Reply> {
  const { orgId } = ctx.scope;
  if (!orgId) throw errors.Unauthenticated();
  const { config, configVersion } = await agentConfigs(ctx).of(orgId);
  return reply({ configVersion, config }, { headers: { etag: `"${configVersion}"` } });
}
