/** Answers heartbeats with the update to install. */
import { defineContribution } from '#core';
import { answerHeartbeat } from '../services/rollout/offers.ts';
import { variables } from '../variables.ts';

export default defineContribution('agents.offers', {
  answer: answerHeartbeat,
  trustKeys: (ctx) => variables.of(ctx.services.config).trustKeys.map(({ publicKey }) => publicKey),
  trustKeyList: (ctx) => variables.of(ctx.services.config).trustKeyList ?? null,
});
