/** Lines that the agent writes about itself. */

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** A line about the agent; without a level it is `info`. */
export type Log = (line: string, level?: LogLevel) => void;
