/** What a heartbeat tells of a device, and what it is answered. */
import type { InterfaceStats, Metrics } from '#agent-protocol';
import type { ClaimedCommand, Lifecycle } from './api.ts';

export interface BeatMetrics extends Metrics {
  /** Kept with the latest values only. */
  interfaceStats?: InterfaceStats[];
}
/** One heartbeat, already authenticated; fields that are absent leave what is known. */
export interface Beat {
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
  metrics?: BeatMetrics;
  lanIp?: string;
  /** The connection it came over, which will carry the commands. */
  epoch?: number;
}
export interface BeatAnswer {
  lifecycle: Lifecycle;
  commands: ClaimedCommand[];
  uninstall: boolean;
  /** What the operators want; the agent is told when it reports otherwise. */
  autoUpdateEnabled: boolean;
}
