/** What a heartbeat reports about a device, and the response. */
import type { HeartbeatStatus, InterfaceStats, Metrics } from '#agent-protocol';
import type { ClaimedCommand } from '../slots/commands.ts';
import type { Lifecycle } from './device.ts';

export interface HeartbeatMetrics extends Metrics {
  /** Stored with the latest values only. */
  interfaceStats?: InterfaceStats[];
}
/** One heartbeat of an authenticated agent; absent fields leave the stored values unchanged. */
export interface Heartbeat {
  deviceId: string;
  orgId: string;
  at: Date;
  ip: string | null;
  role: 'agent' | 'watchdog';
  agentVersion?: string;
  hostname?: string;
  osVersion?: string;
  osBuild?: string;
  uptimeSeconds?: number;
  lastUser?: string;
  pendingReboot?: boolean;
  battery?: Record<string, unknown>;
  watchdogVersion?: string;
  watchdogState?: string;
  helperVersion?: string;
  autoUpdateEnabled?: boolean;
  /** False when the agent refuses to restart, shut down or lock its machine. */
  powerCommands?: boolean;
  /** True when there is no desktop to log in at. */
  isHeadless?: boolean;
  /** What the main agent says about itself. */
  status?: HeartbeatStatus;
  /** How often the watchdog started the main agent in the last 24 hours, and whether that is too often. */
  mainAgentRestartCount24h?: number;
  flapDetected?: boolean;
  metrics?: HeartbeatMetrics;
  lanIp?: string;
  /** The connection that the heartbeat arrived on, which will carry the commands. */
  epoch?: number;
}
export interface HeartbeatResponse {
  lifecycle: Lifecycle;
  commands: ClaimedCommand[];
  uninstall: boolean;
  /** What the operators have set; the agent receives it when it reports another value. */
  autoUpdateEnabled: boolean;
}
