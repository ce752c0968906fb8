/** Commands to an agent, and their results. */

/** `T` is how times are held: ISO 8601 on the wire. */
export interface Command<T = string> {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  /** The server gives out no command after it, by its own clock. */
  deliverBy?: T | null;
  executionTimeoutSeconds?: number;
}

export const RESULT_STATUSES = ['completed', 'failed', 'timeout', 'cancelled'] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/** The result of one command; `startedAt` is ISO 8601 on the wire. */
export interface CommandResult<T = string> {
  status: ResultStatus;
  exitCode?: number;
  stdout?: string;
  stderr?: string;
  durationMs: number;
  startedAt: T;
  error?: string;
  result?: unknown;
}
/** A result as the server has it after validation: a field that was missing or invalid is absent or null. */
export type ReceivedResult = Pick<CommandResult, 'status'> & {
  [K in keyof Omit<CommandResult<Date>, 'status'>]?: CommandResult<Date>[K] | null;
};

/** Commands that restart, shut down or lock a device; an agent can be installed without them. */
export const POWER_COMMANDS = [
  'reboot',
  'schedule_reboot',
  'cancel_reboot',
  'reboot_safe_mode',
  'shutdown',
  'lock',
] as const;
export type PowerCommand = (typeof POWER_COMMANDS)[number];
