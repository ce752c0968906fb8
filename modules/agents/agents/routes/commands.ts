/** /agents/{id}/commands: claiming commands, reporting their start and their result. */
import Joi from 'joi';
import { commandShape, resultBody } from '#agent-protocol/schemas';
import { defineRoute, named } from '#core';
import { agentLimits, agentParams, commandParams, leaving, reporting, stateErrors } from '../models/agent-path.ts';
import { acceptResult, claimCommands, startCommand } from '../services/commands.ts';

const success = Joi.object({ success: Joi.boolean().required() });
/** Two streams of 5 MB, escaped as JSON. Longer output is truncated by the agent and by the server, and not an error. */
const RESULT_BYTES = 24 * 1024 * 1024;

export default [
  defineRoute({
    method: 'GET',
    path: '/agents/{id}/commands',
    summary: 'Claims up to ten waiting commands; each is delivered once',
    access: { agent: leaving },
    limits: agentLimits,
    params: agentParams,
    response: Joi.object({ commands: Joi.array().items(named('AgentCommand', commandShape)).max(10).required() }),
    errors: stateErrors,
    handler: (ctx, input) => claimCommands(ctx, input),
  }),
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/commands/{commandId}/start',
    summary: 'Reports that a command has started; its execution timeout begins',
    access: { agent: reporting },
    audit: { none: 'a step between the command and its result, which are both recorded' },
    limits: agentLimits,
    params: commandParams,
    response: success,
    errors: [...stateErrors, 'NOT_FOUND', 'INVALID_STATE'],
    handler: (ctx, { params }) => startCommand(ctx, params.commandId),
  }),
  defineRoute({
    method: 'POST',
    path: '/agents/{id}/commands/{commandId}/result',
    summary: 'Stores the result of a command; a repeat is accepted and changes nothing',
    access: { agent: reporting },
    audit: 'agent.command.result.submit',
    limits: agentLimits,
    params: commandParams,
    payload: named('AgentCommandResult', resultBody),
    maxBytes: RESULT_BYTES,
    response: success,
    errors: [...stateErrors, 'NOT_FOUND', 'FORBIDDEN'],
    handler: (ctx, input) => acceptResult(ctx, input),
  }),
];
