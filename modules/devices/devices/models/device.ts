/** A managed machine: its slow-changing row, and the shapes of lists, details and changes. */
import Joi from 'joi';
import { HEARTBEAT_STATUSES } from '#agent-protocol';
import { Model, named, openObject } from '#core';
import { MAX_TAGS } from './tag.ts';

export const LIFECYCLES = ['pending', 'active', 'quarantined', 'decommissioned'] as const;
export type Lifecycle = (typeof LIFECYCLES)[number];
export const STATUSES = [...LIFECYCLES, 'online', 'offline', 'maintenance', 'updating'].filter(
  (status) => status !== 'active',
);
export const OS_TYPES = ['windows', 'macos', 'linux'] as const;
export type OsType = (typeof OS_TYPES)[number];
export type Architecture = 'x64' | 'x86' | 'arm64';
export const DEVICE_ROLES = [
  ...['unknown', 'workstation', 'server', 'printer', 'router', 'switch', 'firewall', 'access_point', 'phone', 'iot'],
  ...['camera', 'nas'],
];

/** The slow-changing row of a device; `device_state` has what heartbeats change. */
export class Device extends Model {
  static override tableName = 'devices';
  static override siteColumn = 'site_id';
  static override deviceColumn = 'id';
  static override jsonAttributes = ['customFields'];
  declare id: string;
  declare orgId: string;
  declare siteId: string;
  declare agentId: string | null;
  declare hostname: string;
  declare displayName: string | null;
  declare osType: OsType;
  declare osVersion: string | null;
  declare osBuild: string | null;
  declare architecture: Architecture | null;
  declare deviceRole: string;
  declare deviceRoleSource: 'agent' | 'manual';
  declare lifecycle: Lifecycle;
  declare agentVersion: string | null;
  declare autoUpdateEnabled: boolean;
  declare autoUpdateConfirmedAt: Date | null;
  declare enrolledAt: Date | null;
  declare tags: string[];
  declare customFields: Record<string, unknown>;
  declare maintenanceUntil: Date | null;
  declare decommissionedAt: Date | null;
  declare purgeRequestedAt: Date | null;
  declare uninstallRequestedAt: Date | null;
  declare uninstallIntentAt: Date | null;
  declare possibleReplacementOfDeviceId: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

const text = Joi.string().allow(null, '').required();
const time = Joi.date().iso().allow(null).required();
const number = Joi.number().allow(null).required();
const flag = Joi.boolean().allow(null).required();
const uuid = Joi.string().uuid();

const hardwareSummary = {
  manufacturer: text,
  model: text,
  serialNumber: text,
  cpuModel: text,
  cpuCores: number,
  ramTotalMb: number,
  diskTotalGb: number,
};
/** One row of the device list. */
const listed = {
  id: uuid.required(),
  orgId: uuid.required(),
  orgName: Joi.string().required(),
  siteId: uuid.required(),
  siteName: Joi.string().required(),
  hostname: Joi.string().required(),
  displayName: text,
  osType: Joi.string().required(),
  osVersion: text,
  architecture: text,
  status: Joi.string()
    .valid(...STATUSES)
    .required(),
  connectivity: Joi.string().valid('online', 'offline').required(),
  deviceRole: Joi.string().required(),
  agentVersion: text,
  lastSeenAt: time,
  enrolledAt: time,
  tags: Joi.array().items(Joi.string()).required(),
  lastUser: text,
  pendingReboot: flag,
  wanIp: text,
  lanIp: text,
  mainAgentSilentSince: time,
  watchdogStatus: text,
  maintenanceUntil: time,
};
export const deviceListed = named(
  'DeviceListed',
  Joi.object({
    ...listed,
    hardware: Joi.object(hardwareSummary).allow(null).required(),
    metrics: Joi.object({ cpuPercent: number, ramPercent: number, diskPercent: number, at: time })
      .allow(null)
      .required(),
    customFields: Joi.object()
      .unknown()
      .required()
      .description('The custom fields that lists show (`showInList`), by key; a default where no value is set'),
  }),
);

/** A device of an export: the detail without values that change all the time. */
export const deviceExported = Joi.object({
  ...listed,
  agentId: text,
  lifecycle: Joi.string()
    .valid(...LIFECYCLES)
    .required(),
  osBuild: text,
  deviceRoleSource: Joi.string().required(),
  isVirtual: flag,
  virtualizationPlatform: text,
  customFields: Joi.object().unknown().required().description('By key; a default where no value is set'),
  maintenanceReason: text,
  enrollmentIp: text,
  enrolledBy: uuid
    .allow(null)
    .required()
    .description(
      'The user or API key that created the enrollment key, or the user who provisioned the device; null when not known',
    ),
  possibleReplacementOfDeviceId: uuid.allow(null).required(),
  mergedIntoDeviceId: uuid.allow(null).required(),
  purgeRequestedAt: time,
  quarantinedAt: time,
  quarantineReason: text,
  decommissionedAt: time,
  uninstallRequestedAt: time,
  uninstallConfirmedAt: time,
  uninstallIntentAt: time,
  createdAt: time,
  updatedAt: time,
  siteTimezone: Joi.string().required(),
  watchdogVersion: text,
  watchdogLastSeenAt: time,
  helperVersion: text,
  updatingSince: time,
  updatingToVersion: text,
  uptimeSeconds: number,
  battery: Joi.object().unknown().allow(null).required(),
  powerCommands: Joi.boolean()
    .allow(null)
    .required()
    .description('False when the agent refuses to restart, shut down or lock the device; null until it reports'),
  isHeadless: Joi.boolean()
    .allow(null)
    .required()
    .description('True when the device has no desktop to log in at; null until its agent reports'),
  agentStatus: Joi.string()
    .valid(...HEARTBEAT_STATUSES)
    .allow(null)
    .required()
    .description(
      'What the agent says of itself: `warning` while inventory, logins or events cannot be read or sent, `error` while it cannot record commands or remove itself',
    ),
  mainAgentRestartCount24h: number.description('How often the watchdog started the agent in the last 24 hours'),
  flapDetected: Joi.boolean()
    .allow(null)
    .required()
    .description('True when the agent ends so often that the watchdog waits longer before it starts it again'),
  metrics: Joi.object().unknown().allow(null).required(),
  metricsAt: time,
  autoUpdate: Joi.object({ enabled: flag, confirmedAt: time }).required(),
  hardware: Joi.object({
    ...hardwareSummary,
    motherboardSerial: text,
    cpuThreads: number,
    gpuModel: text,
    biosVersion: text,
  })
    .allow(null)
    .required(),
  networkInterfaces: Joi.array().items(Joi.object().unknown()).required(),
  disks: Joi.array().items(Joi.object().unknown()).required(),
}).unknown();

const sample = { at: Joi.date().iso().required(), cpuPercent: number, ramPercent: number, ramUsedMb: number };
export const deviceDetail = named(
  'Device',
  deviceExported.keys({
    recentMetrics: Joi.array().items(Joi.object(sample).unknown()).max(288).required(),
    pendingCommands: Joi.number().integer().required(),
  }),
);

export interface DeviceUpdate {
  displayName?: string | null;
  siteId?: string;
  tags?: string[];
  deviceRole?: string;
  customFields?: Record<string, unknown>;
}
// Longer than a stored tag: surplus white space does not count (models/tag.ts).
const tag = Joi.string().max(255);
export const deviceUpdate = named(
  'DeviceUpdate',
  Joi.object<DeviceUpdate, true>({
    displayName: Joi.string().trim().min(1).max(255).allow(null),
    siteId: uuid,
    tags: Joi.array()
      .items(tag)
      .max(MAX_TAGS)
      .description('Replaces all tags; they are stored in lower case, with one space between words'),
    deviceRole: Joi.string().valid(...DEVICE_ROLES),
    customFields: openObject().max(100).description('Merged by key; null removes a value'),
  }),
);
