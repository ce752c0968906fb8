/** /agents/{id}/transfers: agents send files for downloads and fetch files of uploads. */
import Joi from 'joi';
import { type AgentAccess, type BodyStream, defineRoute, type Input, type Limit } from '#core';
import { bringFile, fetchFile } from '../services/transfers/agent-ends.ts';
import { variables } from '../variables.ts';

const path = '/agents/{id}/transfers/{commandId}';
const OCTETS = 'application/octet-stream';
const params = Joi.object<{ id: string; commandId: string }>({
  id: Joi.string().hex().length(64).required().description("The agent's id from its enrollment"),
  commandId: Joi.string().uuid().required(),
});
const mainAgent: AgentAccess = { roles: ['agent'] };
// Shared with all other calls of the agent.
const limits: Limit[] = [{ name: 'agent', max: 120, windowSeconds: 60, by: 'actor' }];
const shared = {
  path,
  access: { agent: mainAgent },
  work: 'none',
  params,
  limits,
} as const;
const errors = ['UNAUTHENTICATED', 'RATE_LIMITED', 'TRANSFER_OVER'];

export default [
  defineRoute({
    ...shared,
    method: 'PUT',
    summary: 'Sends the content of a file for a file_read command',
    description:
      'The header x-file-size is the number of bytes. They are read no faster than the client reads them; 410 means that no client waits for them.',
    audit: { none: 'a step between the command and its result, which are both recorded' },
    stream: { type: OCTETS, maxBytes: (config) => variables.of(config).transferMaxBytes },
    response: Joi.object({ success: Joi.boolean().required(), bytes: Joi.number().integer().required() }),
    errors: [...errors, 'PAYLOAD_TOO_LARGE', 'BODY_INCOMPLETE', 'DEVICE_TIMEOUT'],
    handler: (ctx, input: Input<{ id: string; commandId: string }, unknown, BodyStream>) => bringFile(ctx, input),
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    summary: 'Fetches the content of a file for a file_write command',
    description:
      'The headers x-file-size and x-file-sha256 have what is known in advance. If the connection ends before the last chunk, the file is incomplete.',
    response: Joi.any(),
    produces: [OCTETS],
    errors,
    handler: (ctx, input) => fetchFile(ctx, input),
  }),
];
