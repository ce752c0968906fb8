/** The slot `agents.frame`. */
import { defineSlot } from '#core';
import type { AgentFrame } from '../slot-shapes.ts';

declare module '#core/contract' {
  interface Slots {
    'agents.frame': AgentFrame;
  }
}

export default defineSlot<AgentFrame>({
  summary: 'Handles frames of agents on their sockets, such as terminal output',
});
