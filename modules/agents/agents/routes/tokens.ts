/** POST /agents/{id}/rotate-token and its confirmation. */
import Joi from 'joi';
import { tokenShape } from '#agent-protocol/schemas';
import { defineRoute } from '#core';
import { agentLimits, agentParams, confirming, rotating, stateErrors } from '../models/agent-path.ts';
import { callingDevice } from '../services/commands.ts';
import { bearerOf } from '../services/tokens/authentication.ts';
import { confirmRotation, startRotation } from '../services/tokens/credentials.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/rotate-token',
    summary: 'Issues new tokens, which are valid once they are confirmed; a repeat replaces them',
    access: { agent: rotating },
    audit: 'agent.token.rotate',
    limits: agentLimits,
    params: agentParams,
    response: Joi.object(tokenShape),
    errors: [...stateErrors, 'ROTATION_CONFLICT'],
    handler: (ctx, input) => startRotation(ctx, callingDevice(ctx), bearerOf(input)),
  }),
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/rotate-token/confirm',
    summary: 'Confirms the new tokens, called with the new agent token',
    access: { agent: confirming },
    audit: 'agent.token.rotate',
    limits: agentLimits,
    params: agentParams,
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: [...stateErrors, 'ROTATION_CONFLICT', 'PENDING_TOKEN_REQUIRED', 'PENDING_ROTATION_EXPIRED'],
    handler: (ctx, input) => confirmRotation(ctx, callingDevice(ctx), bearerOf(input)),
  }),
];
