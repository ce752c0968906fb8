/** Enrollment: what a machine says about itself, and the identity, tokens and configuration that it receives. */

export const OS_TYPES = ['windows', 'macos', 'linux'] as const;
export type OsType = (typeof OS_TYPES)[number];
export type Architecture = 'x64' | 'x86' | 'arm64';

/** The names by which agents may give an architecture. */
export const ARCHITECTURE_NAMES: Readonly<Record<string, Architecture>> = {
  x64: 'x64',
  amd64: 'x64',
  x86_64: 'x64',
  x86: 'x86',
  '386': 'x86',
  i386: 'x86',
  arm64: 'arm64',
  aarch64: 'arm64',
};

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
export type DeviceRole = (typeof DEVICE_ROLES)[number];

export const VIRTUALIZATION_PLATFORMS = [
  'vmware',
  'hyperv',
  'virtualbox',
  'qemu',
  'kvm',
  'xen',
  'bochs',
  'parallels',
] as const;

/** The machine's hardware; each part may be unknown. */
export interface HardwareInfo {
  cpuModel?: string;
  cpuCores?: number;
  cpuThreads?: number;
  /** MiB. */
  ramTotalMb?: number;
  /** GiB. */
  diskTotalGb?: number;
  serialNumber?: string;
  manufacturer?: string;
  model?: string;
  motherboardSerial?: string;
  biosVersion?: string;
  gpuModel?: string;
}

export interface EnrollmentRequest {
  enrollmentKey: string;
  enrollmentSecret?: string;
  hostname: string;
  osType: OsType;
  osVersion: string;
  osBuild?: string;
  architecture: Architecture;
  agentVersion: string;
  /** One of DEVICE_ROLES. */
  deviceRole?: string;
  isVirtual?: boolean;
  virtualizationPlatform?: string;
  hardwareInfo?: HardwareInfo;
  networkInfo?: { name: string; mac?: string; ip?: string; isPrimary?: boolean }[];
  /** A hash that identifies the machine across installations of the agent. */
  machineId?: string;
}

export interface AgentConfig {
  heartbeatIntervalSeconds: number;
  metricsCollectionIntervalSeconds: number;
  /** By feature: false where it is disabled and the server drops what is sent for it. Absent from older servers. */
  features?: Record<string, boolean>;
}

/** The programs of one device that have a token each. */
export const AGENT_ROLES = ['agent', 'watchdog'] as const;
export type AgentRole = (typeof AGENT_ROLES)[number];

/** The tokens of a device in the clear: one for each role. */
export interface TokenSet {
  authToken: string;
  watchdogAuthToken: string;
}

/** The answer to an enrollment. */
export interface Enrolled extends TokenSet {
  agentId: string;
  deviceId: string;
  orgId: string;
  siteId: string | null;
  config: AgentConfig;
  /** Base64 of the raw Ed25519 keys that may sign releases. */
  manifestTrustKeys: string[];
}
