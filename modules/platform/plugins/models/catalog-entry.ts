/** The catalog: the plugins that this server knows, and their versions. */
import Joi from 'joi';
import { Model, named } from '#core';
import type { Manifest } from '#plugin-sdk/host';

export class CatalogEntry extends Model {
  static override tableName = 'plugin_catalog';
  static override orgColumn = null;
  declare id: string;
  declare slug: string;
  declare name: string;
  declare description: string;
  declare author: string;
  declare type: Manifest['type'];
  declare category: string | null;
  declare tags: string[];
  declare homepageUrl: string | null;
  declare documentationUrl: string | null;
  declare iconUrl: string | null;
  declare version: string | null;
  declare source: 'builtin' | 'local' | 'registry';
  declare publisherKey: string | null;
  declare publisherFingerprint: string | null;
  /** Of the newest version. */
  declare isVerified: boolean;
  declare isFeatured: boolean;
  declare isDeprecated: boolean;
  declare installCount: number;
  declare createdAt: Date;
  declare updatedAt: Date;
}

export class PluginVersion extends Model {
  static override tableName = 'plugin_versions';
  static override orgColumn = null;
  static override jsonAttributes = ['manifest'];
  declare id: string;
  declare catalogId: string;
  declare version: string;
  declare manifest: Manifest;
  declare packageSha256: string;
  declare signature: string | null;
  declare signedBy: string | null;
  declare size: number;
  declare unpackedSize: number;
  declare yanked: boolean;
  declare isVerified: boolean;
  declare releasedAt: Date;
}

export const TYPES = ['integration', 'automation', 'reporting', 'collector', 'notification', 'ui'];

const optional = Joi.string().allow(null).required();
const flag = Joi.boolean().required();
export const entryShape = named(
  'PluginCatalogEntry',
  Joi.object({
    id: Joi.string().uuid().required(),
    slug: Joi.string().required(),
    name: Joi.string().required(),
    description: Joi.string().required(),
    author: Joi.string().required(),
    type: Joi.string()
      .valid(...TYPES)
      .required(),
    category: optional,
    tags: Joi.array().items(Joi.string()).required(),
    homepageUrl: optional,
    documentationUrl: optional,
    iconUrl: optional,
    version: optional.description('The newest; null when all were withdrawn'),
    source: Joi.string().required(),
    publisherKey: optional.description(
      'The trusted key that its packages are signed with; null where they are not signed',
    ),
    publisherFingerprint: optional.description('SHA-256 of that key'),
    isVerified: flag.description('Whether the operator has verified the newest version'),
    isFeatured: flag,
    isDeprecated: flag,
    installCount: Joi.number().integer().required(),
    rating: Joi.number().allow(null).required(),
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
export const installedShape = named(
  'PluginInstalled',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().allow(null).required(),
    partnerId: Joi.string().uuid().allow(null).required(),
    enabled: flag,
    version: Joi.string().required(),
    status: Joi.string().required(),
  }),
);
const anything = Joi.object().unknown();
export const versionShape = named(
  'PluginVersion',
  Joi.object({
    version: Joi.string().required(),
    packageSha256: Joi.string().required(),
    signature: optional,
    signedBy: optional,
    size: Joi.number().integer().required(),
    unpackedSize: Joi.number().integer().required(),
    yanked: flag,
    isVerified: flag,
    releasedAt: Joi.date().iso().required(),
  }),
);
/** A permission that a plugin asks for, in words, and the reason that it gives. */
export const capabilityShape = named(
  'PluginCapability',
  Joi.object({
    name: Joi.string().required(),
    label: Joi.string().required(),
    description: Joi.string().required(),
    destructive: flag,
    reason: Joi.string().required(),
  }),
);
export const entryDetailShape = named(
  'PluginCatalogEntryDetails',
  entryShape.keys({
    versions: Joi.array().items(versionShape).required(),
    permissions: Joi.array().items(capabilityShape).required().description('What the newest version asks for, and why'),
    egress: Joi.array()
      .items(Joi.string(), Joi.object({ fromConfig: Joi.string().required() }))
      .required()
      .description('Servers that it may call: host names, or the key of its configuration that holds one'),
    hooks: Joi.array().items(anything).required(),
    schedules: Joi.array().items(anything).required(),
    actions: Joi.array().items(anything).required(),
    providers: Joi.array().items(anything).required(),
    configSchema: anything.allow(null).required(),
    dependencies: Joi.array().items(anything).required(),
    minApiVersion: optional,
    maxApiVersion: optional,
    minAgentVersion: optional,
    installed: Joi.array().items(installedShape).required(),
  }),
);
