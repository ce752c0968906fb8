/** Types of commands that other modules meet. */
import type { Context } from '#core';
import type { Slots } from '#core/contract';

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

/** Roles of the programs on a device that receive commands. */
export type TargetRole = 'agent' | 'watchdog';

/** A command to be queued. */
export interface QueuedCommand {
  type: string;
  payload?: Record<string, unknown>;
  priority?: number;
  /** Delivery deadline; in seven days when absent. */
  deliverBy?: Date;
  /** 1 to 90,000 seconds; five minutes when absent. */
  executionTimeoutSeconds?: number;
  /** Seconds without a result after which the command times out; the execution timeout and a minute when absent. */
  runLimitSeconds?: number;
  targetRole?: TargetRole;
  whenOffline?: 'queue' | 'fail';
  /** At most one open command with the same key for each device; a second one throws ALREADY_PENDING. */
  dedupKey?: string;
  source: CommandSource;
  sourceId?: string | null;
  batchId?: string | null;
}

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

/** A request for the waiting commands of a device, and the commands given out; devices declares both for its heartbeats. */
export type ClaimRequest = Parameters<Slots['devices.commands']['claim']>[1][number];
export type RoutedCommand = Awaited<ReturnType<Slots['devices.commands']['claim']>>[number];
/** What travels to the agent. */
export type ClaimedCommand = RoutedCommand['command'];

export interface CommandResult {
  /** `cancelled` counts only if cancellation was requested; otherwise it is a failure. */
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  exitCode?: number | null;
  stdout?: string | null;
  stderr?: string | null;
  durationMs?: number | null;
  startedAt?: string | Date | null;
  error?: string | null;
  result?: unknown;
}
/** `never`: the command waits and was not given out. `ended`: it has its result. */
export type StartOutcome = 'running' | 'ended' | 'never' | 'unknown';
export interface Progress {
  commandId: string;
  percent: number | null;
  message: string | null;
}

/** A command of another module that has ended, in the transaction that ends it. */
export interface EndedCommand {
  id: string;
  deviceId: string;
  orgId: string;
  type: string;
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  error: string | null;
}
/**
 * Slot `device-commands.command`: commands that another module owns. Only that module queues them (`queueCommand`), and it stores
 * their results: none is stored with the command.
 */
export interface CommandOwner {
  types: ReadonlySet<string>;
  ended(ctx: Context, command: EndedCommand, result: unknown): Promise<void>;
}
/** Slot `device-commands.guard`: the devices that must not receive a command of a type now, as during a maintenance window. */
export interface CommandGuard {
  blocked(ctx: Context, deviceIds: readonly string[], type: string): Promise<readonly string[]>;
}
