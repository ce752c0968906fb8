/** The slot `devices.commands`: the module that keeps the commands for devices. */
import { type Context, defineSlot } from '#core';

/** A command as it travels to the agent. */
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

export interface DeviceCommands {
  /** SQL over an expression for a device's id: whether a command waits. Part of the heartbeat statement. */
  isWaiting(deviceId: string): string;
  /** SQL over an expression for a device's id: the number of waiting commands. Part of GET /devices/{id}. */
  countWaiting(deviceId: string): string;
  /** Gives out waiting commands, each once, in one statement. `epoch` is the connection that will carry them, if any. */
  claim(
    database: Pick<Context, 'sql'>,
    requests: readonly { deviceId: string; role: 'agent' | 'watchdog'; epoch?: number }[],
  ): Promise<{ deviceId: string; role: 'agent' | 'watchdog'; command: ClaimedCommand }[]>;
  /** The commands as they travel: what `claim` returns holds the secret fields sealed. */
  open(ctx: Context, commands: readonly ClaimedCommand[]): ClaimedCommand[];
  /** Cancels waiting commands of a device, of one type or of all, and returns how many. */
  cancelWaiting(ctx: Context, deviceId: string, type?: string): Promise<number>;
  /** Queues the command that removes the agent of a decommissioned device, and returns its id. */
  queueUninstall(ctx: Context, device: { id: string; orgId: string }, deliverBy: Date): Promise<string | undefined>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.commands': DeviceCommands;
  }
}

export default defineSlot<DeviceCommands>({
  summary: 'Keeps the commands for devices',
});
