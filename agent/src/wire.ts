/** The shapes that travel between agent and server, as the agent protocol fixes them. */
import type { Metrics } from '#agent-protocol';

export type OsType = 'linux' | 'macos' | 'windows';
export type Architecture = 'x64' | 'x86' | 'arm64';

/** What the machine is made of; every part may be unknown. */
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

export interface EnrollmentRequest {
  enrollmentKey: string;
  enrollmentSecret?: string;
  hostname: string;
  osType: OsType;
  osVersion: string;
  architecture: Architecture;
  agentVersion: string;
  deviceRole?: string;
  isVirtual?: boolean;
  virtualizationPlatform?: string;
  hardwareInfo: HardwareInfo;
  networkInfo: { name: string; mac?: string; ip?: string; isPrimary: boolean }[];
  machineId?: string;
}

export interface AgentConfig {
  heartbeatIntervalSeconds: number;
  metricsCollectionIntervalSeconds: number;
  /** What is false is switched off: the server drops what is sent for it. Older servers name none. */
  features?: Record<string, boolean>;
}

/** The three tokens of a device, as enrollment and rotation return them. */
export interface TokenSet {
  authToken: string;
  watchdogAuthToken: string;
  helperAuthToken: string;
}

export interface EnrollmentResponse extends TokenSet {
  agentId: string;
  deviceId: string;
  orgId: string;
  siteId: string | null;
  config: AgentConfig;
  manifestTrustKeys: string[];
}

export interface Command {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  executionTimeoutSeconds?: number;
}

export type ResultStatus = 'completed' | 'failed' | 'timeout' | 'cancelled';

/** The answer to one command; `startedAt` is ISO 8601, `durationMs` milliseconds. */
export interface CommandResult {
  status: ResultStatus;
  exitCode?: number;
  stdout?: string;
  stderr?: string;
  durationMs: number;
  startedAt: string;
  error?: string;
  result?: unknown;
}

export interface HeartbeatRequest {
  role: 'agent';
  status: 'ok' | 'warning' | 'error';
  agentVersion: string;
  hostname: string;
  osVersion: string;
  osBuild?: string;
  uptimeSeconds: number;
  pendingReboot?: boolean;
  lastUser?: string;
  autoUpdateEnabled: boolean;
  metrics: Metrics;
  ipHistoryUpdate?: { currentIPs: string[]; changedIPs: string[]; removedIPs: string[]; detectedAt: string };
}

/** What the watchdog says of itself and of the agent that it watches. */
export interface WatchdogBeat {
  role: 'watchdog';
  status: 'ok' | 'warning';
  watchdogVersion: string;
  watchdogState: 'connecting' | 'monitoring' | 'recovering' | 'standby' | 'failover';
  mainAgentRestartCount24h: number;
  flapDetected: boolean;
}

/** A newer program, as an answer to a heartbeat offers it. */
export interface Upgrade {
  version: string;
  url: string;
  sha256: string;
  /** The version is lower than the one that runs, and the tenant wants it so. */
  allowDowngrade?: boolean;
}

export interface HeartbeatResponse {
  commands?: Command[];
  configUpdate?: Partial<AgentConfig> | null;
  configVersion?: number | string | null;
  upgradeTo?: Upgrade | null;
  watchdogUpgradeTo?: Upgrade | null;
  rotateToken?: boolean;
  uninstall?: boolean;
  manifestTrustKeys?: string[];
  nextHeartbeatSeconds?: number;
}

export interface NetworkAdapter {
  name: string;
  mac?: string;
  ipv4: string[];
  ipv6: string[];
  isPrimary: boolean;
}

export interface DiskUsage {
  mountPoint: string;
  device: string;
  fsType: string;
  totalGb: number;
  usedGb: number;
  freeGb: number;
  usedPercent: number;
}

export interface SoftwareItem {
  name: string;
  version: string;
  vendor?: string;
  installDate?: string;
  installLocation?: string;
}

export type ServiceState = 'running' | 'stopped' | 'paused' | 'starting' | 'stopping' | 'unknown';

export interface ServiceItem {
  name: string;
  displayName?: string;
  state: ServiceState;
  startType?: 'auto' | 'manual' | 'disabled' | 'auto_delayed';
}
