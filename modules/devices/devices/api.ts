/** What other modules may ask of devices: `ctx.use('devices')`, its types, and the events they may follow. */
import type { Beat, BeatAnswer } from './beats.ts';
import type { LifecycleApi } from './life.ts';
import type { QueuedCommand, WithdrawalsApi } from './ordering.ts';
import type {
  DisksBody,
  HardwareBody,
  HardwareFields,
  NetworkBody,
  ReportsApi,
  ServicesBody,
  SoftwareBody,
} from './snapshots.ts';
import type { ListsApi, TagsApi } from './tagging.ts';

export type Lifecycle = 'pending' | 'active' | 'quarantined' | 'decommissioned';
export type OsType = 'windows' | 'macos' | 'linux';
export type Architecture = 'x64' | 'x86' | 'arm64';
export type AgentRole = 'agent' | 'watchdog' | 'helper';
export type CommandStatus =
  | 'pending'
  | 'sent'
  | 'running'
  | 'completed'
  | 'failed'
  | 'timeout'
  | 'cancelled'
  | 'expired';
export type CommandSource =
  | 'user'
  | 'api_key'
  | 'script'
  | 'automation'
  | 'patch_job'
  | 'deployment'
  | 'policy'
  | 'security'
  | 'system';

/** The slow-changing row of a device. */
export interface Device {
  id: string;
  orgId: string;
  siteId: string;
  agentId: string | null;
  hostname: string;
  displayName: string | null;
  osType: OsType;
  osVersion: string | null;
  osBuild: string | null;
  architecture: Architecture | null;
  deviceRole: string;
  deviceRoleSource: 'agent' | 'manual';
  lifecycle: Lifecycle;
  agentVersion: string | null;
  autoUpdateEnabled: boolean;
  autoUpdateConfirmedAt: Date | null;
  enrolledAt: Date | null;
  tags: string[];
  customFields: Record<string, unknown>;
  maintenanceUntil: Date | null;
  decommissionedAt: Date | null;
  uninstallRequestedAt: Date | null;
  possibleReplacementOfDeviceId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface EnrollInput {
  orgId: string;
  siteId: string;
  via: 'enrollment_key' | 'provision';
  hostname: string;
  osType: OsType;
  osVersion?: string | null;
  osBuild?: string | null;
  /** Normalised by the caller: amd64 is x64, 386 is x86, aarch64 is arm64. */
  architecture?: Architecture | null;
  agentVersion?: string | null;
  deviceRole?: string | null;
  isVirtual?: boolean | null;
  virtualizationPlatform?: string | null;
  machineId?: string | null;
  hardware?: HardwareFields | null;
  network?: { name: string; mac?: string | null; ip?: string | null; isPrimary?: boolean | null }[] | null;
  /** The address the agent calls from. */
  ip?: string | null;
  /** Who made the enrollment key. */
  enrolledBy?: string | null;
  /** The row that waits for this machine, as `takeProvision` gave it. It has its place in the quota already. */
  pendingDeviceId?: string | null;
  /** The old device, proven by its old token. Ignored when it lies in another organization or is decommissioned. */
  reattachTo?: string | null;
}
export interface Enrolled {
  deviceId: string;
  agentId: string;
  orgId: string;
  siteId: string;
  hostname: string;
  /** True when an existing row was kept: its earlier credentials must end. */
  reattached: boolean;
}

export interface ClaimedCommand {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  priority: number;
  attempt: number;
  deliverBy: Date;
  executionTimeoutSeconds: number;
  createdAt: Date;
}
export interface CommandResult {
  /** `cancelled` counts only where somebody asked for it; else it is a failure. */
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  exitCode?: number | null;
  stdout?: string | null;
  stderr?: string | null;
  durationMs?: number | null;
  startedAt?: string | Date | null;
  error?: string | null;
  result?: unknown;
}
/** `never` was waiting and not given to anyone, `ended` has its result. */
export type Begun = 'running' | 'ended' | 'never' | 'unknown';
export interface Progress {
  commandId: string;
  percent: number | null;
  message: string | null;
}
export type { QueuedCommand } from './ordering.ts';
export interface CommandRow {
  id: string;
  deviceId: string;
  orgId: string;
  type: string;
  status: CommandStatus;
  priority: number;
  deliverBy: Date;
  executionTimeoutSeconds: number;
  createdAt: Date;
}

/** What authenticating an agent needs to know of its device. */
export interface DeviceIdentity {
  deviceId: string;
  agentId: string | null;
  orgId: string;
  siteId: string;
  partnerId: string;
  hostname: string;
  lifecycle: Lifecycle;
  decommissionedAt: Date | null;
  uninstallRequestedAt: Date | null;
  orgActive: boolean;
  partnerActive: boolean;
}

export interface DevicesApi extends ListsApi, TagsApi, LifecycleApi, WithdrawalsApi, ReportsApi {
  /**
   * Takes the device in: quota (403 DEVICE_LIMIT_REACHED), rows, audit `device.create` {via}, event `devices.enrolled`.
   * Needs the platform role; runs in the caller's transaction. 403 `DEVICE_QUARANTINED` when the old row is quarantined.
   */
  enroll(input: EnrollInput): Promise<Enrolled>;
  /** Group commit, about 500 beats a transaction. 410 DEVICE_GONE for a device that is no more. */
  beat(beat: Beat): Promise<BeatAnswer>;
  /** As `claimCommands`, for a connection: in one statement with others that ask at the same time. */
  pushCommands(deviceId: string, role: 'agent' | 'watchdog', epoch: number): Promise<ClaimedCommand[]>;
  /** Back to the queue, for what could not be sent or was never begun; no more than five deliveries. */
  releaseCommands(deviceId: string, sent: readonly { id: string; attempt: number; unsent?: boolean }[]): Promise<void>;
  /** Back to the queue what earlier connections of this device and role carried and nobody began. */
  reclaimCommands(deviceId: string, role: 'agent' | 'watchdog', epoch: number): Promise<void>;
  /** sent to running, in one statement with others; says what of the command is known instead of throwing. */
  beginCommand(deviceId: string, role: 'agent' | 'watchdog', commandId: string): Promise<Begun>;
  /** How far an open command of this device has come; false when there is none. */
  noteProgress(deviceId: string, progress: Progress): Promise<boolean>;
  /** The device shows `updating` for at most five minutes, or until it beats with that version. */
  beginUpdate(deviceId: string, targetVersion: string): Promise<void>;
  /** The update to that version has ended without success: the device shows `updating` no longer. */
  endUpdate(deviceId: string, targetVersion: string): Promise<void>;
  /** At most ten, by priority and age; each is given out once. */
  claimCommands(deviceId: string, role: 'agent' | 'watchdog'): Promise<ClaimedCommand[]>;
  /** sent to running. 404 for an unknown command, 409 INVALID_STATE for one that has ended; a repeat does nothing. */
  startCommand(deviceId: string, commandId: string): Promise<void>;
  /** The first terminal result wins; repeats change nothing. 403 when the command is for another role. */
  finishCommand(
    deviceId: string,
    commandId: string,
    role: AgentRole,
    result: CommandResult,
  ): Promise<{ known: boolean; changed: boolean; given: boolean }>;
  submitHardware(deviceId: string, body: HardwareBody): Promise<{ changed: boolean }>;
  submitNetwork(deviceId: string, body: NetworkBody): Promise<{ changed: boolean }>;
  submitDisks(deviceId: string, body: DisksBody): Promise<{ changed: boolean }>;
  submitSoftware(deviceId: string, body: SoftwareBody): Promise<{ changed: boolean }>;
  submitServices(deviceId: string, body: ServicesBody): Promise<{ changed: boolean }>;
  /** Platform role. Devices that are no more are left out. */
  identify(deviceIds: string[]): Promise<DeviceIdentity[]>;
  /** The device when the caller sees it, else 404. */
  mustExist(id: string): Promise<Device>;
  /** Orders work for a device. 404, 409 INVALID_STATE, DEVICE_OFFLINE or ALREADY_PENDING {commandId}. No audit. */
  queueCommand(deviceId: string, command: QueuedCommand): Promise<CommandRow>;
}

/**
 * Notices (ctx.notify, StartServices.onNotice): `devices.changed` with the device's id after every change of its
 * lifecycle. Hints (ctx.hint, heard the same way): `devices.commands` with the device's id when a command was queued or
 * waits again, `devices.command.done` with the command's id when it has ended.
 */
declare module '#core/contract' {
  interface Apis {
    devices: DevicesApi;
  }
  interface Events {
    'devices.enrolled': {
      hostname: string;
      via: string;
      possibleReplacementOf: string | null;
      /** The device it may replace has been seen within a day: probably a clone. */
      cloneSuspected: boolean;
    };
    'devices.online': { hostname: string };
    'devices.offline': { hostname: string; lastSeenAt: string };
    /** Many devices of an organization went silent at once; their own events follow in three minutes if they stay away. */
    'devices.outage': { offline: number; of: number };
    'devices.main_agent_silent': { hostname: string };
    'devices.updated': { changedFields: string[] };
    'devices.decommissioned': { hostname: string; uninstall: boolean };
    'devices.restored': { hostname: string };
    'devices.software.changed': { added: number; removed: number };
    'devices.command.finished': {
      commandId: string;
      type: string;
      status: CommandStatus;
      exitCode: number | null;
      late: boolean;
      source: CommandSource;
      sourceId: string | null;
    };
  }
}
