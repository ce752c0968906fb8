/** Heartbeats of the agent and of its watchdog, and the server's answer. */
import type { Command } from './commands.ts';
import type { AgentConfig } from './enrollment.ts';
import type { InterfaceStats, Metrics } from './metrics.ts';

export const HEARTBEAT_STATUSES = ['ok', 'warning', 'error'] as const;
export type HeartbeatStatus = (typeof HEARTBEAT_STATUSES)[number];
export const HEARTBEAT_ROLES = ['agent', 'watchdog'] as const;
export type HeartbeatRole = (typeof HEARTBEAT_ROLES)[number];
export const WATCHDOG_STATES = ['connecting', 'monitoring', 'recovering', 'standby', 'failover'] as const;
export type WatchdogState = (typeof WATCHDOG_STATES)[number];

/** The addresses of a machine after a change; the server knows the earlier ones and finds the difference itself. */
export interface AddressChange {
  currentIPs: string[];
}
export interface Battery {
  percent?: number;
  charging?: boolean;
  pluggedIn?: boolean;
  minutesRemaining?: number;
}

/** What may change between two heartbeats of the agent, beside its role and status. */
export interface MachineState {
  agentVersion: string;
  helperVersion?: string;
  hostname: string;
  osVersion: string;
  osBuild?: string;
  uptimeSeconds: number;
  lastUser?: string;
  pendingReboot?: boolean;
  battery?: Battery;
  autoUpdateEnabled: boolean;
  /** Whether the agent restarts, shuts down and locks its machine when asked. */
  powerCommands: boolean;
  /** Whether the machine has no desktop to log in at. */
  isHeadless?: boolean;
  /** The configuration that the agent runs with; the answer carries another one when it differs. */
  configVersion?: string;
}
/** What the watchdog says about itself and about the agent that it watches. */
export interface WatchdogStatus {
  watchdogVersion: string;
  watchdogState: WatchdogState;
  mainAgentRestartCount24h: number;
  flapDetected: boolean;
}

export interface AgentHeartbeat extends MachineState {
  role: 'agent';
  /** The worst of what the agent wrote about itself lately: `warning` or `error` when something did not work. */
  status: HeartbeatStatus;
  /** Absent in heartbeats that come sooner than the next sample is due (`metricsCollectionIntervalSeconds`). */
  metrics?: Metrics & { interfaceStats?: InterfaceStats[] };
  ipHistoryUpdate?: AddressChange;
}
export interface WatchdogHeartbeat extends WatchdogStatus {
  role: 'watchdog';
}

/** A message as the server has it after validation: a field that was missing or invalid is absent or null. */
export type Received<T> = { [K in keyof T]?: T[K] | null };

export type ReceivedMetrics = Received<Metrics & { interfaceStats: InterfaceStats[] }>;
/** A heartbeat of either role as the server has it after validation. */
export type ReceivedHeartbeat = Received<
  Omit<MachineState, 'battery'> &
    WatchdogStatus & {
      role: HeartbeatRole;
      status: HeartbeatStatus;
      metrics: ReceivedMetrics;
      battery: Received<Battery>;
      ipHistoryUpdate: AddressChange;
    }
>;

/** A newer program that an answer offers. */
export interface Upgrade {
  version: string;
  url: string;
  /** 64 hexadecimal digits. */
  sha256: string;
  /** The version is lower than the one that runs, and the tenant's policy asks for it. */
  allowDowngrade?: true;
}
export interface UpgradeOffers {
  upgradeTo: Upgrade | null;
  watchdogUpgradeTo: Upgrade | null;
}

export interface HeartbeatAnswer<T = string> extends UpgradeOffers {
  commands: Command<T>[];
  configUpdate: AgentConfig | null;
  configVersion: string;
  rotateToken: boolean;
  uninstall: boolean;
  /** The keys that the server trusts. Agents pin those of their enrollment, and only compare these. */
  manifestTrustKeys: string[];
  /** A signed list of keys that agents trust in place of the pinned ones; null while there is none. */
  trustKeyList: string | null;
  nextHeartbeatSeconds: number;
  serverTime: T;
}
/** The answer as the agent reads it: an older server leaves fields out. */
export type ReceivedAnswer = Partial<HeartbeatAnswer>;
