/** What other modules may ask of devices about the commands they order: part of `ctx.use('devices')`. */
import type { ModulePlace } from '#core';
import type { CommandSource } from './api.ts';

export interface QueuedCommand {
  type: string;
  payload?: Record<string, unknown>;
  priority?: number;
  /** Delivery deadline; in seven days when absent. */
  deliverBy?: Date;
  /** 1 to 90,000 seconds; five minutes when absent. */
  executionTimeoutSeconds?: number;
  /** Seconds without a result after which the server takes it for lost; a minute more than it may run when absent. */
  runLimitSeconds?: number;
  targetRole?: 'agent' | 'watchdog';
  whenOffline?: 'queue' | 'fail';
  /** At most one open command of the same key a device; a second one throws ALREADY_PENDING. */
  dedupKey?: string;
  source: CommandSource;
  sourceId?: string | null;
  batchId?: string | null;
}

export interface WithdrawalsApi {
  /** Commands of these types that no agent has fetched yet, in these organizations; null for all. Platform role. */
  countWaitingCommands(types: readonly string[], orgIds: readonly string[] | null): Promise<number>;
  /** Cancels them, for an organization, a partner, or everywhere. Platform role. */
  cancelWaitingCommands(types: readonly string[], where: ModulePlace): Promise<void>;
}
