/** What other modules may ask of commands: `ctx.use('device-commands')`, its slots, and the event they may follow. */
import type { ModulePlace } from '#core';
import type {
  ClaimedCommand,
  CommandGuard,
  CommandOwner,
  CommandResult,
  CommandRow,
  CommandSource,
  CommandStatus,
  Progress,
  QueuedCommand,
  StartOutcome,
  TargetRole,
} from './types.ts';

export interface DeviceCommandsApi {
  /** Queues a command. Throws 404, 409 INVALID_STATE, DEVICE_OFFLINE or ALREADY_PENDING {commandId}. Writes no audit entry. */
  queueCommand(deviceId: string, command: QueuedCommand): Promise<CommandRow>;
  /** At most ten waiting commands, by priority and age; each is given out once. */
  claimCommands(deviceId: string, role: TargetRole): Promise<ClaimedCommand[]>;
  /** Like `claimCommands`, for a connection: one statement for all connections that ask at the same time. */
  pushCommands(deviceId: string, role: TargetRole, epoch: number): Promise<ClaimedCommand[]>;
  /** Returns commands to the queue that could not be sent or were never started, up to five deliveries. */
  releaseCommands(deviceId: string, sent: readonly { id: string; attempt: number; unsent?: boolean }[]): Promise<void>;
  /** Returns commands to the queue that earlier connections of this device and role carried and that were not started. */
  reclaimCommands(deviceId: string, role: TargetRole, epoch: number): Promise<void>;
  /** Changes sent to running, in one statement with others; returns the state of the command instead of throwing. */
  beginCommand(deviceId: string, role: TargetRole, commandId: string): Promise<StartOutcome>;
  /** Stores the progress of an open command of this device; false when there is none. */
  noteProgress(deviceId: string, progress: Progress): Promise<boolean>;
  /** Changes sent to running. 404 for an unknown command, 409 INVALID_STATE for one that has ended; a repeat does nothing. */
  startCommand(deviceId: string, commandId: string): Promise<void>;
  /** Stores a result: the first final one counts, and repeats change nothing. 403 when the command is for another role. */
  finishCommand(
    deviceId: string,
    commandId: string,
    role: TargetRole | 'helper',
    result: CommandResult,
  ): Promise<{ known: boolean; changed: boolean; given: boolean }>;
  /** The number of waiting commands of these types, in these organizations or, for null, in all. Platform role. */
  countWaitingCommands(types: readonly string[], orgIds: readonly string[] | null): Promise<number>;
  /** Cancels waiting commands of these types, for an organization, a partner, or everywhere. Platform role. */
  cancelWaitingCommands(types: readonly string[], where: ModulePlace): Promise<void>;
}

/**
 * Hints (ctx.hint, received by StartServices.onNotice): `device-commands.waiting` with the id of the device when a command was
 * queued or waits again, `device-commands.ended` with the id of the command when it has ended.
 */
declare module '#core/contract' {
  interface Apis {
    'device-commands': DeviceCommandsApi;
  }
  interface Slots {
    'device-commands.command': CommandOwner;
    'device-commands.guard': CommandGuard;
  }
  interface Events {
    'device-commands.finished': {
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
