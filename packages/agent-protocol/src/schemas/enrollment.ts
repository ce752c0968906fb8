/** The body and the answer of an enrollment, and the shapes of tokens and configuration. */
import Joi from 'joi';
import {
  type AgentConfig,
  ARCHITECTURE_NAMES,
  DEVICE_ROLES,
  type DeviceRole,
  type Enrolled,
  type EnrollmentRequest,
  type HardwareInfo,
  OS_TYPES,
  VIRTUALIZATION_PLATFORMS,
} from '../enrollment.ts';
import { address, count, label, open, rounded, text } from './values.ts';

/** An enrollment after validation; the architecture is a name of ARCHITECTURE_NAMES. */
export type EnrollmentBody = Omit<EnrollmentRequest, 'architecture' | 'deviceRole'> & {
  architecture: string;
  deviceRole?: DeviceRole;
};

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

export const enrollmentBody = open<EnrollmentBody>({
  enrollmentKey: Joi.string()
    .pattern(/^[0-9a-f]{64}$/i)
    .lowercase()
    .messages({ 'string.pattern.base': '{{#label}} must be 64 hexadecimal characters' })
    .required(),
  enrollmentSecret: Joi.string().max(1024),
  hostname: label(255).required(),
  osType: Joi.string()
    .valid(...OS_TYPES)
    .required(),
  osVersion: label(100).required(),
  osBuild: text(100),
  architecture: Joi.string()
    .lowercase()
    .valid(...Object.keys(ARCHITECTURE_NAMES))
    .required(),
  agentVersion: label(50).required(),
  deviceRole: Joi.string().valid(...DEVICE_ROLES),
  isVirtual: Joi.boolean(),
  // An unknown platform is dropped, not stored.
  virtualizationPlatform: Joi.string()
    .lowercase()
    .valid(...VIRTUALIZATION_PLATFORMS, null)
    .failover(null),
  hardwareInfo: open<HardwareInfo>(hardwareKeys),
  networkInfo: Joi.array()
    .max(100)
    .items(open({ name: label(255).required(), mac: text(64), ip: address(), isPrimary: Joi.boolean() })),
  machineId: label(128),
});

const token = Joi.string()
  .pattern(/^svc_[0-9a-f]{64}$/)
  .required();
export const tokenShape = { authToken: token, watchdogAuthToken: token };
export const configShape = Joi.object<Required<AgentConfig>>({
  heartbeatIntervalSeconds: Joi.number().integer().required(),
  metricsCollectionIntervalSeconds: Joi.number().integer().required(),
  features: Joi.object()
    .pattern(Joi.string(), Joi.boolean())
    .required()
    .description('What is false the agent leaves alone: the server would drop it'),
});
export const enrolledShape = Joi.object<Enrolled>({
  agentId: Joi.string().hex().length(64).required(),
  deviceId: Joi.string().uuid().required(),
  ...tokenShape,
  orgId: Joi.string().uuid().required(),
  siteId: Joi.string().uuid().allow(null).required(),
  config: configShape.required(),
  manifestTrustKeys: Joi.array().items(Joi.string()).required(),
});
