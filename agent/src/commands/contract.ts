/** What a command handler gets and what it answers. */

import type { OsType, ResultStatus } from '#agent-protocol';
import type { Diary } from '../link/diary.ts';
import type { Session } from '../link/session.ts';
import type { Remove } from '../removal.ts';

/** What a handler may use of the agent. */
export interface CommandHost {
  osType: OsType;
  /** Whether the agent was started with leave to restart, shut down or lock the machine. */
  allowPower: boolean;
  /** From SIGTERM to SIGKILL, in milliseconds. */
  killGraceMs: number;
  /** Collects and sends all snapshots; returns what was sent, and rejects with a sentence about what was not. */
  refreshInventory(): Promise<unknown>;
  setAutoUpdate(enabled: boolean): Promise<void>;
  /** Sends lines of the agent about itself from this level on; minutes, 0 until the agent starts anew. */
  setLogLevel: Diary['setLevel'];
  /**
   * Fetches a version, the latest when none is named, and exchanges the program when no command runs any more. Resolves with
   * the version once it is verified, with undefined where it runs already. Absent where an agent cannot replace itself.
   */
  updateAgent?(version: string | undefined): Promise<string | undefined>;
  /** Removes what the installer put on the machine, and names it; absent for an agent that was not installed by it. */
  remove?: Remove;
  /** The folder into which scripts write custom fields: a file for each key. Absent where none are sent. */
  customFields?: string;
  /** The content of files, streamed; both throw what the server refused and end with the signal. */
  sendContent: Session['sendContent'];
  fetchContent: Session['fetchContent'];
}

/** The part of a result that the handler decides. */
export interface Outcome {
  status: ResultStatus;
  exitCode?: number;
  stdout?: string;
  stderr?: string;
  error?: string;
  result?: unknown;
  /** The agent removes itself once this outcome is delivered. */
  thenUninstall?: true;
}

/** `signal` aborts when the agent stops; `commandId` marks the processes that belong to the command. */
export type Handler = (
  payload: Record<string, unknown>,
  host: CommandHost,
  run: { commandId: string; signal: AbortSignal },
) => Promise<Outcome>;

/** The outcome of a command that was not or not fully carried out. */
export function failed(error: string): Outcome {
  return { status: 'failed', error };
}
