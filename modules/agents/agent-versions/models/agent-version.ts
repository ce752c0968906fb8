/** One program of one version for one platform and architecture, with its signed manifest. */
import Joi from 'joi';
import {
  COMPONENTS,
  type Component,
  PLATFORMS,
  type Platform,
  RELEASE_ARCHITECTURES,
  type ReleaseArchitecture,
} from '#agent-protocol';
import { Model, named } from '#core';

export type VersionState = 'registered' | 'promoted' | 'withdrawn';
export const VERSION_STATES = ['registered', 'promoted', 'withdrawn'] as const;

export class AgentVersion extends Model {
  static override tableName = 'agent_versions';
  static override orgColumn = null;
  declare id: string;
  declare version: string;
  declare sortKey: string;
  declare component: Component;
  declare platform: Platform;
  declare architecture: ReleaseArchitecture;
  declare source: 'github' | 'local';
  declare downloadUrl: string | null;
  declare checksum: string;
  /** A bigint column read as a number: files are smaller than 2^53 bytes. */
  declare fileSize: number;
  declare manifest: string;
  declare manifestSignature: string;
  declare signingKeyId: string;
  declare releaseNotes: string | null;
  declare prerelease: boolean;
  declare state: VersionState;
  declare isLatest: boolean;
  declare createdAt: Date;
  declare promotedAt: Date | null;
  declare promotedBy: string | null;
  declare withdrawnAt: Date | null;
}

/** Text whose byte order is the order of versions: a release sorts after its release candidates. */
export function sortKey(version: string): string {
  const [numbers = '', candidate] = version.split('-rc.');
  const padded = numbers.split('.').map((part) => part.padStart(6, '0'));
  return `${padded.join('.')}.${candidate === undefined ? 'release' : `rc.${candidate.padStart(5, '0')}`}`;
}

const time = Joi.date().iso().allow(null).required();
/** What installers receive about a version. */
export const offeredShape = named(
  'AgentVersionOffered',
  Joi.object({
    version: Joi.string().required(),
    component: Joi.string()
      .valid(...COMPONENTS)
      .required(),
    platform: Joi.string()
      .valid(...PLATFORMS)
      .required(),
    architecture: Joi.string()
      .valid(...RELEASE_ARCHITECTURES)
      .required(),
    downloadUrl: Joi.string().required(),
    checksum: Joi.string().hex().length(64).required(),
    fileSize: Joi.number().integer().required(),
    manifest: Joi.string().required(),
    manifestSignature: Joi.string().required(),
    signingKeyId: Joi.string().required(),
    releaseNotes: Joi.string().allow('', null).required(),
  }),
);
export const versionShape = named(
  'AgentVersion',
  offeredShape.keys({
    id: Joi.string().uuid().required(),
    prerelease: Joi.boolean().required(),
    state: Joi.string()
      .valid(...VERSION_STATES)
      .required(),
    isLatest: Joi.boolean().required(),
    createdAt: Joi.date().iso().required(),
    promotedAt: time,
    promotedBy: Joi.string().uuid().allow(null).required(),
    withdrawnAt: time,
  }),
);
