/** POST /agents/{id}/stop: the last call of an agent that is stopped, so that its device is offline at once. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { agentLimits, agentParams, leaving, stateErrors } from '../models/agent-path.ts';
import { callingDevice } from '../services/commands.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/stop',
    summary: 'Reports that the agent stops; its device is offline until the next heartbeat',
    access: { agent: { ...leaving, roles: ['agent'] } },
    audit: 'agent.heartbeat.state_change',
    limits: agentLimits,
    params: agentParams,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: stateErrors,
    async handler(ctx) {
      if (!(await ctx.use('devices').goOffline(callingDevice(ctx)))) ctx.unchanged();
      return { success: true };
    },
  }),
];
