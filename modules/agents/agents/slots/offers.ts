/** The slot `agents.offers`. */
import { defineSlot } from '#core';
import type { AgentOffers } from '../offer-shapes.ts';

declare module '#core/contract' {
  interface Slots {
    'agents.offers': AgentOffers;
  }
}

export default defineSlot<AgentOffers>({
  summary: 'Answers each heartbeat with the upgrades that the agent should install',
});
