/** Heartbeats ask here what to install. */
import { defineContribution } from '#core';
import { answerBeat } from '../services/rollout/offers.ts';
import { variables } from '../variables.ts';

export default defineContribution('agents.offers', {
  answer: answerBeat,
  trustKeys: (ctx) => variables.of(ctx.services.config).trustKeys.map(({ publicKey }) => publicKey),
});
