/** The socket between agent and server: JSON objects, each naming its kind in `frame`, and why the server closes it. */
import type { Command, CommandResult } from './commands.ts';
import type { AgentHeartbeat, HeartbeatAnswer, WatchdogHeartbeat } from './heartbeat.ts';

/** Bytes of the largest frame; a result has two streams of 5 MB at most. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/** The codes with which the server closes a socket. */
export const CLOSE = {
  /** The token is no longer accepted, or the device is gone: the agent does not reconnect for an hour. */
  AUTH: 4001,
  /** The same device and role has a newer connection. */
  REPLACED: 4002,
  /** Quarantined, decommissioned, or the tenant is not active: the agent goes on polling. */
  STATE: 4003,
  /** No pong in time. */
  PONG: 4008,
  /** The agent reads too slowly. */
  SLOW: 4013,
  /** Too many frames. */
  RATE: 4029,
  /** The device moved to another organization, or its token was rotated: reconnect. */
  MOVED: 4040,
  /** Too many frames that are not JSON objects with `frame`. */
  MALFORMED: 4400,
} as const;

/** What a server says that it understands, beside commands and pings. */
export const CAPABILITIES = ['heartbeat_ack', 'result_ack', 'progress', 'update_status'] as const;

/** What the server found of a command whose start the agent reported: it is to be run only if `running`. */
export type Begun = 'running' | 'ended' | 'never' | 'unknown';

/** Frames from the server, by the name in `frame`. */
export interface ServerFrames {
  connected: {
    agentId: string;
    timestamp: string;
    epoch: number;
    pingSeconds: number;
    capabilities: readonly string[];
  };
  command: Command;
  ping: object;
  config: { version: string };
  close: { code: number; reason: string };
  error: { of: string; commandId?: string; code: string; message: string };
  heartbeat_ack: HeartbeatAnswer;
  ack_answer: { commandId: string; begun: Begun };
  result_ack: { commandId: string; success: boolean; status?: number; code?: string; message?: string };
}

export interface Progress {
  commandId: string;
  /** 0 to 100. */
  percent?: number | null;
  message?: string | null;
}
/** Frames from the agent, by the name in `frame`. */
export interface AgentFrames {
  heartbeat: AgentHeartbeat | WatchdogHeartbeat;
  ack: { commandId: string };
  command_result: CommandResult & { commandId: string };
  progress: Progress;
  update_status: { targetVersion: string };
  pong: object;
}

/** A frame of any kind, as it is before its name is looked at. */
export interface Frame {
  frame: string;
  [field: string]: unknown;
}
