/** What a machine says of itself when it enrolls, and what it is given. */
import Joi from 'joi';
import { named } from '#core';
import type { TokenSet } from './credential.ts';
import { address, count, label, open, rounded, text } from './wire-values.ts';

export const DEVICE_ROLES = [
  'unknown',
  'workstation',
  'server',
  'printer',
  'router',
  'switch',
  'firewall',
  'access_point',
  'phone',
  'iot',
  'camera',
  'nas',
] as const;
const PLATFORMS = ['vmware', 'hyperv', 'virtualbox', 'qemu', 'kvm', 'xen', 'bochs', 'parallels'];

export interface HardwareInfo {
  cpuModel?: string;
  cpuCores?: number;
  cpuThreads?: number;
  ramTotalMb?: number;
  diskTotalGb?: number;
  serialNumber?: string;
  manufacturer?: string;
  model?: string;
  motherboardSerial?: string;
  biosVersion?: string;
  gpuModel?: string;
}
export interface EnrollmentBody {
  enrollmentKey: string;
  enrollmentSecret?: string;
  hostname: string;
  osType: 'windows' | 'macos' | 'linux';
  osVersion: string;
  osBuild?: string;
  architecture: string;
  agentVersion: string;
  deviceRole?: (typeof DEVICE_ROLES)[number];
  isVirtual?: boolean;
  virtualizationPlatform?: string;
  hardwareInfo?: HardwareInfo;
  networkInfo?: { name: string; mac?: string; ip?: string; isPrimary?: boolean }[];
  machineId?: string;
}
export interface Enrolled extends TokenSet {
  agentId: string;
  deviceId: string;
  orgId: string;
  siteId: string | null;
  config: {
    heartbeatIntervalSeconds: number;
    metricsCollectionIntervalSeconds: number;
    features: Record<string, boolean>;
  };
  manifestTrustKeys: string[];
}

export type Architecture = 'x64' | 'x86' | 'arm64';
/** What Go, uname and the protocol call the architectures, and what is stored. */
const ARCHITECTURES: Record<string, Architecture> = {
  x64: 'x64',
  amd64: 'x64',
  x86_64: 'x64',
  x86: 'x86',
  '386': 'x86',
  i386: 'x86',
  arm64: 'arm64',
  aarch64: 'arm64',
};
/** The protocol's word for an architecture that the schema accepted. */
export const architectureOf = (name: string): Architecture | null => ARCHITECTURES[name] ?? null;

export const hardwareKeys: Joi.SchemaMap<HardwareInfo> = {
  cpuModel: text(255),
  cpuCores: count(),
  cpuThreads: count(),
  ramTotalMb: count(),
  diskTotalGb: rounded(2_147_483_647),
  serialNumber: text(255),
  manufacturer: text(255),
  model: text(255),
  motherboardSerial: text(255),
  biosVersion: text(255),
  gpuModel: text(255),
};

export const enrollmentBody = named(
  'AgentEnrollment',
  open<EnrollmentBody>({
    enrollmentKey: Joi.string()
      .pattern(/^[0-9a-f]{64}$/i)
      .lowercase()
      .messages({ 'string.pattern.base': '{{#label}} must be 64 hexadecimal characters' })
      .required(),
    enrollmentSecret: Joi.string().max(1024),
    hostname: label(255).required(),
    osType: Joi.string().valid('windows', 'macos', 'linux').required(),
    osVersion: label(100).required(),
    osBuild: text(100),
    architecture: Joi.string()
      .lowercase()
      .valid(...Object.keys(ARCHITECTURES))
      .required(),
    agentVersion: label(50).required(),
    deviceRole: Joi.string().valid(...DEVICE_ROLES),
    isVirtual: Joi.boolean(),
    // An unknown platform is dropped, not stored.
    virtualizationPlatform: Joi.string()
      .lowercase()
      .valid(...PLATFORMS, null)
      .failover(null),
    hardwareInfo: open<HardwareInfo>(hardwareKeys),
    networkInfo: Joi.array()
      .max(100)
      .items(open({ name: label(255).required(), mac: text(64), ip: address(), isPrimary: Joi.boolean() })),
    machineId: label(128),
  }),
);

const token = Joi.string()
  .pattern(/^svc_[0-9a-f]{64}$/)
  .required();
export const tokenShape = { authToken: token, watchdogAuthToken: token, helperAuthToken: token };
export const configShape = named(
  'AgentConfig',
  Joi.object({
    heartbeatIntervalSeconds: Joi.number().integer().required(),
    metricsCollectionIntervalSeconds: Joi.number().integer().required(),
    features: Joi.object()
      .pattern(Joi.string(), Joi.boolean())
      .required()
      .description('What is false the agent leaves alone: the server would drop it'),
  }),
);
export const enrolledShape = named(
  'AgentEnrolled',
  Joi.object<Enrolled>({
    agentId: Joi.string().hex().length(64).required(),
    deviceId: Joi.string().uuid().required(),
    ...tokenShape,
    orgId: Joi.string().uuid().required(),
    siteId: Joi.string().uuid().allow(null).required(),
    config: configShape.required(),
    manifestTrustKeys: Joi.array().items(Joi.string()).required(),
  }),
);
