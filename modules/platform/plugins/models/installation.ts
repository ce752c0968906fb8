/** An installation: a plugin in one organization or in all of a partner's, its granted permissions and its health. */
import Joi from 'joi';
import { Model, named, openObject } from '#core';
import type { ResourceLimits } from '#plugin-sdk/host';
import { CAPABILITY_NAMES } from '#plugin-sdk/host';

export type Status = 'installing' | 'installed' | 'updating' | 'uninstalling' | 'error';
export type Health = 'ok' | 'degraded' | 'crashed' | 'disabled_by_system';
export const STATUSES: Status[] = ['installing', 'installed', 'updating', 'uninstalling', 'error'];

export class Installation extends Model {
  static override tableName = 'plugin_installations';
  static override partnerOwned = true;
  static override jsonAttributes = ['config', 'secretConfig', 'resourceLimits'];
  declare id: string;
  declare orgId: string | null;
  /** One of the two is set: a partner's serves all of its organizations. */
  declare partnerId: string | null;
  declare catalogId: string;
  declare slug: string;
  declare version: string;
  declare packageSha256: string;
  declare targetVersion: string | null;
  declare status: Status;
  declare enabled: boolean;
  declare config: Record<string, unknown>;
  /** Sealed, by key. */
  declare secretConfig: Record<string, string>;
  declare grantedPermissions: string[];
  declare pendingPermissions: string[];
  declare pendingVersion: string | null;
  declare sandboxEnabled: boolean;
  /** Only those that differ from the defaults. */
  declare resourceLimits: Partial<ResourceLimits>;
  declare health: Health;
  declare listens: string[];
  declare crashes: Date[];
  declare windowStartedAt: Date;
  declare windowCalls: number;
  declare windowErrors: number;
  declare restartCount: number;
  declare errorMessage: string | null;
  declare keepData: boolean;
  declare installedBy: string | null;
  declare installedAt: Date | null;
  declare lastActiveAt: Date | null;
  declare statusSince: Date;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/** Shown in place of a secret; in a change it keeps the stored value. */
export const MASK = '********';

export interface InstallationCreate {
  slug?: string;
  catalogId?: string;
  orgId?: string;
  partnerId?: string;
  version?: string;
  config?: Record<string, unknown>;
  grantPermissions: string[];
}
export interface InstallationUpdate {
  config?: Record<string, unknown>;
  version?: string;
  allowDowngrade?: boolean;
  grantPermissions?: string[];
  resourceLimits?: Partial<ResourceLimits>;
}

const config = openObject().description(
  'By configSchema of the plugin; secrets shown masked, a masked value keeps what is there',
);
const version = Joi.string().max(64);
const grantPermissions = Joi.array()
  .items(Joi.string().valid(...CAPABILITY_NAMES))
  .max(50)
  .unique();

export const installationCreate = Joi.object<InstallationCreate, true>({
  slug: Joi.string().max(64),
  catalogId: Joi.string().uuid(),
  orgId: Joi.string()
    .uuid()
    .description('The organization that it is for; an organization’s own users need not name it'),
  partnerId: Joi.string().uuid().description('In its place: for all organizations of the partner'),
  version: version.description('The newest when absent'),
  config,
  grantPermissions: grantPermissions.required().description('All that the version asks for: what people agreed to'),
}).xor('slug', 'catalogId');

const number = (min: number, max: number) => Joi.number().integer().min(min).max(max);
export const installationUpdate = Joi.object<InstallationUpdate, true>({
  config,
  version: version.description(
    'Another version; where it asks for more, nothing changes until grantPermissions has that too',
  ),
  allowDowngrade: Joi.boolean().description('Goes back to a version lower than the installed one'),
  grantPermissions: grantPermissions.description('Replaces what is granted; may be less than the plugin asks for'),
  resourceLimits: Joi.object<Partial<ResourceLimits>, true>({
    memoryMb: number(32, 2_048),
    cpuMsPerCall: number(100, 30_000),
    wallMsPerCall: number(100, 30_000),
    callsPerMinute: number(1, 60_000),
    egressPerMinute: number(0, 6_000),
    kvBytes: number(0, 100 * 1_048_576),
    logPerMinute: number(0, 6_000),
  }).description('Operators only'),
}).with('allowDowngrade', 'version');

const time = Joi.date().iso().allow(null).required();
export const installationShape = named(
  'PluginInstallation',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().allow(null).required(),
    partnerId: Joi.string().uuid().allow(null).required().description('Of all organizations of a partner'),
    inherited: Joi.boolean()
      .required()
      .description(
        'It is the partner’s and not the caller’s to change: configuration, limits and reasons are not shown',
      ),
    catalogId: Joi.string().uuid().required(),
    slug: Joi.string().required(),
    version: Joi.string().required(),
    targetVersion: Joi.string().allow(null).required(),
    packageSha256: Joi.string().required().description('Consent is bound to this package'),
    status: Joi.string()
      .valid(...STATUSES)
      .required(),
    enabled: Joi.boolean().required(),
    config: Joi.object().unknown().required(),
    grantedPermissions: Joi.array().items(Joi.string()).required(),
    pendingPermissions: Joi.array().items(Joi.string()).required().description('What pendingVersion asks for on top'),
    pendingVersion: Joi.string().allow(null).required(),
    sandboxEnabled: Joi.boolean().required(),
    resourceLimits: Joi.object().unknown().required(),
    health: Joi.string().valid('ok', 'degraded', 'crashed', 'disabled_by_system').required(),
    restartCount: Joi.number().integer().required(),
    errorMessage: Joi.string().allow(null).required(),
    installedBy: Joi.string().uuid().allow(null).required(),
    installedAt: time,
    lastActiveAt: time,
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
