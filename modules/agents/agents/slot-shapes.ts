/** The contributions to the slot `agents.frame`: handlers of frames of other features, such as terminal output. */
import type { Context } from '#core';

export interface AgentFrame {
  /** `terminal_output`, or `binary` for all binary frames. One contribution for each name. */
  frame: string;
  /** Runs in the scope of the agent. When it throws, the frame counts as denied and gets no answer. */
  take(ctx: Context, from: { deviceId: string; orgId: string; role: string }, body: unknown): Promise<void>;
}
