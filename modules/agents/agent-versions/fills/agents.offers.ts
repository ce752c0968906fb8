/** Heartbeats ask here what to install. */
import { defineContribution } from '#core';
import { answerBeat } from '../services/rollout/offers.ts';

export default defineContribution('agents.offers', {
  answer: answerBeat,
  trustKeys: (ctx) => ctx.services.config.agents.trustKeys.map(({ publicKey }) => publicKey),
});
