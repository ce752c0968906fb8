/** The slot of agents: frames that other features exchange with agents, such as terminal output. */
import type { Context } from '#core';

export interface AgentFrame {
  /** `terminal_output`, or `binary` for all binary frames; one filling a name. */
  frame: string;
  /** In the agent's own scope. Throwing counts the frame as refused; nothing is answered. */
  take(ctx: Context, from: { deviceId: string; orgId: string; role: string }, body: unknown): Promise<void>;
}
