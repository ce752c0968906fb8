/** Commands given out to agents, and the requests for them. */

/** Roles of the programs on a device that receive commands. */
export type TargetRole = 'agent' | 'watchdog';

/** A request for the waiting commands of a device. */
export interface ClaimRequest {
  deviceId: string;
  role: TargetRole;
  /** The connection that will carry the commands, if any. */
  epoch?: number;
}

/** What travels to the agent. */
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

/** A command given out, and who receives it. */
export interface RoutedCommand {
  deviceId: string;
  role: TargetRole;
  command: ClaimedCommand;
}
