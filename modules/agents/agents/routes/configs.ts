/** GET /agents/{id}/config: intervals, limits and features for one device. */
import Joi from 'joi';
import { configShape } from '#agent-protocol/schemas';
import { defineRoute, named } from '#core';
import { agentLimits, agentParams, connected, tenantErrors } from '../models/agent-path.ts';
import { readConfig } from '../services/configs.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/agents/{id}/config',
    summary: 'Reads the configuration of the agent',
    access: { agent: connected },
    limits: agentLimits,
    params: agentParams,
    response: Joi.object({
      configVersion: Joi.string().required(),
      config: named('AgentConfig', configShape).required(),
    }),
    errors: tenantErrors,
    handler: (ctx) => readConfig(ctx),
  }),
];
