/** How the agent writes about itself. */
import type { LogLevel } from '#agent-protocol';

/** A line about the agent; without a level it is `info`. */
export type Log = (line: string, level?: LogLevel) => void;
