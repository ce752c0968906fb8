/** What the agents of an organization run with, read rarely and remembered, so that a heartbeat costs no statement. */
import Joi from 'joi';
import { type Context, errors, type Reply, reply, type StartServices, sha256Hex } from '#core';

export interface AgentSettings {
  heartbeatIntervalSeconds: number;
  metricsCollectionIntervalSeconds: number;
  /** Age at which a token is due for rotation. */
  tokenRotationDays: number;
}
export interface AgentConfig {
  heartbeatIntervalSeconds: number;
  metricsCollectionIntervalSeconds: number;
}
export interface VersionedConfig {
  config: AgentConfig;
  configVersion: string;
  tokenRotationDays: number;
}

export const agentSettings = Joi.object<AgentSettings>({
  heartbeatIntervalSeconds: Joi.number().integer().min(15).max(900).default(60),
  metricsCollectionIntervalSeconds: Joi.number().integer().min(10).max(900).default(30),
  tokenRotationDays: Joi.number().integer().min(1).max(365).default(30),
});

/** A changed setting reaches the agents within this time and one heartbeat. */
const KEEP_MS = 30_000;
const MOST_DEVICES = 100_000;
const SERVICE = 'agents.configs';

export function versioned({ tokenRotationDays, ...config }: AgentSettings): VersionedConfig {
  return { config, configVersion: sha256Hex(JSON.stringify(config)).slice(0, 16), tokenRotationDays };
}

export class AgentConfigs {
  readonly #read: (orgId: string) => Promise<AgentSettings>;
  readonly #byOrg = new Map<string, { answer: Promise<VersionedConfig>; at: number }>();
  /** The version each device was last given here, for agents that do not name theirs. */
  readonly #given = new Map<string, string>();

  constructor(read: (orgId: string) => Promise<AgentSettings>) {
    this.#read = read;
  }

  /** What was read before a change of this organization's settings, or of a partner's (`*`), counts no more. */
  forget(orgId: string): void {
    if (orgId === '*') this.#byOrg.clear();
    else this.#byOrg.delete(orgId);
  }

  of(orgId: string): Promise<VersionedConfig> {
    const held = this.#byOrg.get(orgId);
    if (held && performance.now() - held.at < KEEP_MS) return held.answer;
    const answer = this.#read(orgId).then(versioned);
    const entry = { answer, at: performance.now() };
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

export function startConfigs({ services, asPlatform, onNotice, onNoticesLost }: StartServices): AgentConfigs {
  const read = (orgId: string) => asPlatform((ctx) => ctx.settings<AgentSettings>('agents', orgId));
  const configs = new AgentConfigs(read);
  services.set(SERVICE, configs);
  onNotice(SETTINGS_NOTICE, (orgId) => configs.forget(orgId));
  onNoticesLost(() => configs.forget('*'));
  return configs;
}

export const agentConfigs = (ctx: Context): AgentConfigs => ctx.platform.services.get(SERVICE) as AgentConfigs;

/** The full configuration with its version as ETag; the server answers 304 to an agent that has it. */
export async function readConfig(ctx: Context): Promise<Reply> {
  const { orgId } = ctx.scope;
  if (!orgId) throw errors.Unauthenticated();
  const { config, configVersion } = await agentConfigs(ctx).of(orgId);
  return reply({ configVersion, config }, { headers: { etag: `"${configVersion}"` } });
}
