/** POST /agents/{id}/uninstall-intent: the last call of an agent that is removed manually. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { agentLimits, agentParams, leaving, stateErrors } from '../models/agent-path.ts';
import { callingDevice } from '../services/commands.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/uninstall-intent',
    summary: 'Reports that the agent is being removed from its machine',
    access: { agent: leaving },
    audit: 'agent.uninstall.intent',
    limits: agentLimits,
    params: agentParams,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: stateErrors,
    async handler(ctx) {
      if (!(await ctx.use('devices').noteUninstallIntent(callingDevice(ctx)))) ctx.unchanged();
      return { success: true };
    },
  }),
];
