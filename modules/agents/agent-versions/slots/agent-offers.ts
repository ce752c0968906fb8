/** Heartbeats ask here what to install. */
import { defineFilling } from '#core';
import { answerBeat } from '../services/rollout/offers.ts';

export default defineFilling({
  slot: 'agents.offers',
  value: {
    answer: answerBeat,
    trustKeys: (ctx) => ctx.services.config.agents.trustKeys.map(({ publicKey }) => publicKey),
  },
});
